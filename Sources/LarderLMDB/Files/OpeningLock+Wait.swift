#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How long whoever opens a store waits for another process that opens, compacts or restores it.
public struct OpenWait: Sendable {
  /// Nil for without end.
  public var timeoutSeconds: Double?
  /// Told once when it has waited for some seconds, and for whom, as far as the system tells.
  public var tellsOfLong: (@Sendable (WriteHolder?) -> Void)?
  /// Asked while a suspended store waits to be resumed; false ends that.
  package var isWanted: (@Sendable () -> Bool)?

  public init(
    timeoutSeconds: Double? = nil, tellsOfLong: (@Sendable (WriteHolder?) -> Void)? = nil
  ) {
    self.timeoutSeconds = timeoutSeconds
    self.tellsOfLong = tellsOfLong
  }
}

extension OpeningLock {
  /// Tries again and again, as nothing ends a wait for the lock itself: opening is over in a few
  /// milliseconds nearly always, and nobody does it all the time.
  borrowing func lock(_ wait: OpenWait, since start: Double) throws(LMDBError) {
    var (pause, isTold) = (UInt32(250), false)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw SystemCall.failure("flock", path: path) }
      guard wait.isWanted?() != false else {
        throw LMDBError(
          .suspended, operation: "resume", path: SafeFiles.parent(of: path),
          detail: "the store is to be suspended again, before another process let it be opened")
      }
      let seconds = SystemCall.seconds - start
      if let timeout = wait.timeoutSeconds, seconds >= timeout { throw openingElsewhere() }
      if !isTold, seconds >= WriteWait.longSeconds {
        isTold = true
        wait.tellsOfLong?(holder)
      }
      SystemCall.sleep(microseconds: pause)
      pause = min(2 * pause, 8000)
    }
  }

  private borrowing func openingElsewhere() -> LMDBError {
    let holder = holder
    return LMDBError(
      .openingElsewhere(by: holder), operation: "open", path: SafeFiles.parent(of: path),
      detail: "another process opens the store, compacts or restores it"
        + (holder.map { ": \($0)" } ?? ""))
  }

  /// The process that has the lock; nil where nobody has it, or the system does not tell.
  private var holder: WriteHolder? {
    #if os(Linux)
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return nil }
      let device = UInt64(truncatingIfNeeded: status.st_dev)
      // The halves of a device's number, as the system puts them together.
      let major = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
      let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
      for line in SystemCall.text(of: "/proc/locks").split(separator: "\n") {
        // `7: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`; whoever waits has an arrow before the kind.
        let words = line.split(separator: " ")
        guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]) else { continue }
        let file = words[5].split(separator: ":")
        guard file.count == 3, UInt64(file[0], radix: 16) == major,
          UInt64(file[1], radix: 16) == minor, file[2] == "\(status.st_ino)"
        else { continue }
        return WriteHolder(thread: process)
      }
    #endif
    return nil
  }
}
