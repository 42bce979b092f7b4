#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process that writes, as far as the system tells.
public struct WriteHolder: Hashable, Sendable {
  public let processID: Int32
  /// Whether it is stopped, as by SIGSTOP or a debugger, and will not go on by itself.
  public let isStopped: Bool

  public init(processID: Int32, isStopped: Bool) {
    self.processID = processID
    self.isStopped = isStopped
  }
}

extension WriteHolder: CustomStringConvertible {
  public var description: String {
    "process \(processID)" + (isStopped ? ", which is stopped" : "")
  }
}

extension WriteHolder {
  /// The process of a thread; nil where the system does not tell.
  init?(thread: Int32) {
    #if canImport(Glibc)
      let descriptor = SystemCall.open("/proc/\(thread)/status", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { SystemCall.closeDescriptor(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1024)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return nil }
      var (process, isStopped) = (Int32?.none, false)
      for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
        let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
        guard words.count >= 2 else { continue }
        if words[0] == "Tgid:" { process = Int32(words[1]) }
        if words[0] == "State:" { isStopped = words[1] == "T" || words[1] == "t" }
      }
      guard let process else { return nil }
      self.init(processID: process, isStopped: isStopped)
    #else
      return nil
    #endif
  }
}

#if canImport(Glibc)
  extension SystemCall {
    /// Whether a thread of any process that this one can see has the number, and has not ended.
    static func isThread(_ number: Int32) -> Bool {
      if kill(number, 0) != 0, errno == ESRCH { return false }
      let descriptor = open("/proc/\(number)/stat", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return true }
      defer { closeDescriptor(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 512)
      let count = read(descriptor, &bytes, bytes.count)
      // `12 (name) Z 1`, for one that has ended and whose parent was not told yet.
      guard count > 0, let name = bytes[..<count].lastIndex(of: UInt8(ascii: ")")),
        name + 2 < count
      else { return true }
      return bytes[name + 2] != UInt8(ascii: "Z") && bytes[name + 2] != UInt8(ascii: "X")
    }
  }
#endif
