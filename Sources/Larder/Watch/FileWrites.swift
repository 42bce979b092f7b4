internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Tells when a file is written, by whichever process: inotify on Linux, kqueue on Apple's
/// platforms. Best effort; whoever needs to know in any case looks now and then as well.
final class FileWrites: @unchecked Sendable {  // Immutable after init; sources are safe to cancel.
  private let source: any DispatchSourceProtocol

  /// Nil where the system has nothing to tell with, or no more of it.
  init?(_ path: String, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    #if os(Linux)
      let file = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard file >= 0 else { return nil }
      guard inotify_add_watch(file, path, UInt32(IN_MODIFY)) >= 0 else {
        close(file)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: file, queue: queue)
      source.setEventHandler {
        Self.drain(file)
        body()
      }
    #elseif canImport(Darwin)
      let file = open(path, O_EVTONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: file, eventMask: [.write, .extend], queue: queue)
      source.setEventHandler { body() }
    #else
      return nil
    #endif
    source.setCancelHandler { close(file) }
    source.activate()
    self.source = source
  }

  deinit { source.cancel() }

  #if os(Linux)
    /// Takes the events, which all say the same.
    private static func drain(_ file: Int32) {
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { bytes in
        guard let start = bytes.baseAddress else { return }
        while read(file, start, bytes.count) > 0 {}
      }
    }
  #endif
}
