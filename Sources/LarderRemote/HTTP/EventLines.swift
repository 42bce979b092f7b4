/// Reads server-sent events as their bytes come: the part of the format that hints need.
///
/// Lines end with LF, CR or both. Comments, ids and other fields are passed over; a line or an event that is
/// longer than a limit is refused, so that a server cannot fill the memory.
struct EventLines {
  /// One event, at the empty line that ends it.
  struct Event: Equatable {
    var name = ""
    var data = ""
  }

  private let maximumByteCount: Int
  private var line: [UInt8] = []
  private var event = Event()
  private var hasData = false
  private var isAfterReturn = false
  private var isFirstLine = true

  init(maximumByteCount: Int = 1 << 16) { self.maximumByteCount = maximumByteCount }

  /// The events that end in these bytes.
  ///
  /// - Throws: ``RemoteError/malformed(_:)``.
  mutating func take(_ bytes: some Sequence<UInt8>) throws(RemoteError) -> [Event] {
    var events: [Event] = []
    for byte in bytes {
      defer { isAfterReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where isAfterReturn: break
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        if let event = endLine() { events.append(event) }
      default:
        line.append(byte)
        guard line.count + event.data.utf8.count <= maximumByteCount else {
          throw .malformed("a hint has more than \(maximumByteCount) bytes")
        }
      }
    }
    return events
  }

  private mutating func endLine() -> Event? {
    defer {
      line.removeAll(keepingCapacity: true)
      isFirstLine = false
    }
    if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    guard !line.isEmpty else {
      defer { (event, hasData) = (Event(), false) }
      return hasData ? event : nil
    }
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
    var value = line[colon...].dropFirst()
    if value.first == UInt8(ascii: " ") { value.removeFirst() }
    switch String(decoding: line[..<colon], as: UTF8.self) {
    case "event": event.name = String(decoding: value, as: UTF8.self)
    case "data":
      if hasData { event.data += "\n" }
      event.data += String(decoding: value, as: UTF8.self)
      hasData = true
    default: break
    }
    return nil
  }
}
