#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Takes what LMDB writes of a copy out of a pipe and puts it into a file: LMDB itself says nothing
/// of how far it is, and cannot be stopped.
struct PipedCopy {
  let descriptor: Int32
  let path: String

  private static let pieceByteCount = 1 << 20

  init(to descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Runs `copy` on a thread of its own with the end of the pipe that it is to write to.
  ///
  /// - Parameter progress: Told how many bytes are in the file, about every megabyte and at the end,
  ///   and whether that is all; false ends the copy.
  /// - Returns: False where `progress` ended it.
  /// - Throws: ``LMDBError``, that of the file first.
  func run(
    _ copy: @escaping @Sendable (Int32) throws(LMDBError) -> Void,
    progress: (Int, _ isAll: Bool) -> Bool
  ) throws(LMDBError) -> Bool {
    let (output, input) = try makePipe()
    let source = CopySource(input, copy)
    let thread: pthread_t
    do throws(LMDBError) {
      thread = try source.start(path: path)
    } catch {
      Forks.close(locked: output)
      Forks.close(locked: input)
      throw error
    }
    let outcome = Result { () throws(LMDBError) in try drain(output, progress) }
    #if canImport(Darwin)
      // The signal that a pipe without a reader raises goes to the whole process there, whatever this thread blocks, and
      // LMDB waits for it without end where it is ignored.
      discard(output)
    #endif
    // Where not everything was read, the copy ends now with an error, which is of no interest.
    Forks.close(locked: output)
    pthread_join(thread, nil)
    guard try outcome.get() else { return false }
    if let failure = source.failure.withLock({ $0 }) { throw failure }
    return true
  }

  /// A child that kept the end that is written to would have the other end wait for it: so those that run
  /// another program close both, and those that are forked give up their share.
  private func makePipe() throws(LMDBError) -> (output: Int32, input: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemCall.failure("pipe", path: path) }
    for end in ends {
      Forks.willLock(end)
      // Where it fails, a program that is started meanwhile holds up the end.
      try? SafeFiles.closeOnExec(end, path: path)
    }
    return (ends[0], ends[1])
  }

  private func drain(
    _ output: Int32, _ progress: (Int, _ isAll: Bool) -> Bool
  ) throws(LMDBError) -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.pieceByteCount, alignment: 16)
    defer { buffer.deallocate() }
    var (written, told) = (0, 0)
    while true {
      let count = read(output, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemCall.failure("read", path: path) }
      guard count > 0 else { return progress(written, true) }
      try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      written += count
      if written - told >= Self.pieceByteCount {
        told = written
        guard progress(written, false) else { return false }
      }
    }
  }

  #if canImport(Darwin)
    /// Reads what is left and throws it away.
    private func discard(_ output: Int32) {
      let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: Self.pieceByteCount, alignment: 16)
      defer { buffer.deallocate() }
      while true {
        let count = read(output, buffer.baseAddress, buffer.count)
        if count == 0 || count < 0 && errno != EINTR { return }
      }
    }
  #endif

  private func write(_ bytes: UnsafeRawBufferPointer) throws(LMDBError) {
    var rest = bytes
    guard SafeFiles.mayWrite(rest.count, to: descriptor) else {
      throw SystemCall.failure(EFBIG, "write", path: path)
    }
    while !rest.isEmpty {
      let count = SystemCall.write(descriptor, rest)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemCall.failure("write", path: path) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}

/// The thread that a copy comes from.
private final class CopySource: Sendable {
  let failure = Locked<LMDBError?>(nil)
  private let input: Int32
  private let copy: @Sendable (Int32) throws(LMDBError) -> Void

  init(_ input: Int32, _ copy: @escaping @Sendable (Int32) throws(LMDBError) -> Void) {
    self.input = input
    self.copy = copy
  }

  func start(path: String) throws(LMDBError) -> pthread_t {
    let context = Unmanaged.passRetained(self)
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let status = pthread_create(
      &thread, nil,
      { context in
        let context: UnsafeMutableRawPointer? = context
        if let context { Unmanaged<CopySource>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    let started: pthread_t? = thread
    guard status == 0, let started else {
      context.release()
      throw SystemCall.failure(status, "pthread_create", path: path)
    }
    return started
  }

  private func run() {
    // A copy that is not wanted any more finds the pipe closed, and must not end the process by
    // the signal that this raises; the thread ends with it pending.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    do throws(LMDBError) {
      try copy(input)
    } catch {
      failure.withLock { $0 = error }
    }
    Forks.close(locked: input)
  }
}
