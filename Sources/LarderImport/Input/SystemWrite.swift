#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Writing to descriptors, to the end.
package enum SystemWrite {
  /// Writes all of `bytes`; returns the system's error code, or 0.
  ///
  /// A pipe without a reader is `EPIPE`, and no signal, whatever the program does with signals.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes
    while !rest.isEmpty {
      let (count, code) = withoutSignal(descriptor) { () -> (Int, Int32) in
        let count = platformWrite(descriptor, rest)
        return (count, count < 0 ? errno : 0)
      }
      switch code {
      case 0: rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      case EINTR: continue
      case EAGAIN:
        // Somebody else made the shared descriptor non-blocking: wait for it.
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&poller, 1, -1)
      default: return code
      }
    }
    return 0
  }

  /// Keeps a broken pipe from ending the process: the signal is for this thread alone.
  private static func withoutSignal(
    _ descriptor: Int32, _ body: () -> (Int, Int32)
  ) -> (Int, Int32) {
    #if canImport(Glibc)
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      var before = sigset_t()
      var pending = sigset_t()
      pthread_sigmask(SIG_BLOCK, &signals, &before)
      sigpending(&pending)
      let result = body()
      if result.1 == EPIPE, sigismember(&pending, SIGPIPE) == 0 {
        var now = timespec()
        while sigtimedwait(&signals, nil, &now) < 0, errno == EINTR {}
      }
      pthread_sigmask(SIG_SETMASK, &before, nil)
      return result
    #else
      _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
      return body()
    #endif
  }
}

private func platformWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
