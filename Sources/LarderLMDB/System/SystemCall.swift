internal import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The operating system's calls that the files of this layer share.
package enum SystemCall {
  static let noSpace = ENOSPC
  static let inputOutput = EIO
  static let accessDenied = EACCES
  static let noMemory = ENOMEM
  static let invalid = EINVAL

  #if canImport(Darwin)
    private static let notPermitted =
      "In a sandboxed Mac app, and in an app group, LMDB needs semaphores of the group (`Tools/vendor-lmdb --group`). "
      + "On a locked device, wait for `protectedDataDidBecomeAvailable`. Else check who owns the folder and its files."
  #else
    private static let notPermitted = "Check who owns the folder and its files."
  #endif

  /// What to do about failures that have to do with where the store is, or with the process.
  static let advice: [Int32: String] = [
    EIO:
      "Nothing of this transaction is kept. The disk failed to read or write: see what the system "
      + "has logged of it, make a backup elsewhere, and try again.",
    EACCES: "Check who owns the folder and its files.",
    EPERM: notPermitted,
    EROFS: "Open the store with `isReadOnly`, or have the disk mounted for writing.",
    ENOENT:
      "Check the path: the folder above the store's must exist. If the files of a store that is open were removed or "
      + "moved, close the store and open it again.",
    ENOTDIR: "Check the path; a part of it is a file.",
    ENAMETOOLONG: "Choose a shorter path.",
    EMFILE: "Close files that are not needed, or raise this process's limit; then try again.",
    ENFILE: "Close files that are not needed, or raise the system's limit; then try again.",
    EAGAIN: "Try again when the system is less busy.",
    ENOMEM: "Open the store with a smaller `mapByteCount`, or raise this process's limit.",
  ]

  /// Makes sure that no file which is opened gets a standard descriptor of a process that has closed
  /// it: what anybody prints to it would be written over the file.
  ///
  /// Reading from one that was closed, or writing to it, fails as before.
  package static func keepStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      let taken = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      // The lowest number that is free: this one, unless another thread was faster.
      if taken > STDERR_FILENO { closeDescriptor(taken) }
    }
  }

  /// Bytes of a page of memory: maps of files begin at multiples of it.
  static let pageByteCount = sysconf(Int32(_SC_PAGESIZE))

  /// The error that `errno` describes right now: call it before anything else can change it.
  static func failure(_ operation: String, path: String?) -> LMDBError {
    failure(errno, operation, path: path)
  }

  static func failure(_ number: Int32, _ operation: String, path: String?) -> LMDBError {
    LMDBError(
      .system(errno: number), operation: operation, path: path,
      detail: String(cString: strerror(number)))
  }

  /// A number that no other living thread of this process has, and never zero.
  package static var threadNumber: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }

  static func open(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.open(path, flags)
    #elseif canImport(Glibc)
      Glibc.open(path, flags)
    #else
      Musl.open(path, flags)
    #endif
  }

  /// What a file of the system says, which has no size; empty where it cannot be read.
  static func text(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { closeDescriptor(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += piece[..<count]
    }
  }

  /// For types whose own `write` hides the system's.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }

  /// For types whose own `close` hides the system's.
  static func closeDescriptor(_ descriptor: Int32) {
    close(descriptor)
  }

  /// - Throws: ``LMDBError`` where the system refuses to reserve so many bytes of addresses.
  static func checkAddressSpace(_ byteCount: Int, path: String) throws(LMDBError) {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    #endif
    let start = mmap(nil, byteCount, PROT_READ, flags, -1, 0)
    guard start != MAP_FAILED else { throw failure("mmap", path: path) }
    munmap(start, byteCount)
  }

  package static func sleep(microseconds: UInt32) {
    usleep(microseconds)
  }

  /// Seconds of a clock that only goes forward.
  static var seconds: Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }
}

// MARK: - Timers

extension SystemCall {
  private static let hasTimers = Atomic<Bool>(false)

  /// Whether a timer of Dispatch may be made. The first one of a process needs descriptors, and
  /// Dispatch ends the process where there are none left.
  static var mayUseTimers: Bool {
    if hasTimers.load(ordering: .relaxed) { return true }
    let descriptors = (0..<8).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    for descriptor in descriptors where descriptor >= 0 { closeDescriptor(descriptor) }
    guard descriptors.allSatisfy({ $0 >= 0 }) else { return false }
    hasTimers.store(true, ordering: .relaxed)
    return true
  }
}
