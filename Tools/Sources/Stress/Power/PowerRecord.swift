import Foundation

/// What a process did to the files of one folder, in its order, as `recorder.c` wrote it down.
struct PowerRecord {
  enum Event {
    case created(path: String, file: UInt64)
    case opened(path: String, file: UInt64)
    case madeFolder(path: String)
    case removed(path: String)
    case renamed(from: String, to: String)
    case exchanged(String, String)
    case wrote(file: UInt64, place: Int, bytes: Range<Int>)
    /// The write before, of a descriptor that writes through to the disk, has returned.
    case settled(file: UInt64)
    case resized(file: UInt64, byteCount: Int)
    case synced(file: UInt64)
    case syncedFolder(path: String)
    case marked(Mark)
  }

  struct Unreadable: Error, CustomStringConvertible {
    let description: String
  }

  let events: [Event]
  let bytes: Data

  init(_ path: String) throws {
    bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    var events: [Event] = []
    var marks: UInt64?
    var place = 0
    while place < bytes.count {
      let head = try Head(bytes, place)
      let first = place + Head.byteCount
      let path = head.text(bytes, first, head.pathByteCount)
      let other = head.text(bytes, first + head.pathByteCount, head.otherByteCount)
      let start = first + head.pathByteCount + head.otherByteCount
      place = start + head.byteCount
      if path == MarkFile.name { marks = head.file }
      if path == MarkFile.name || head.file == marks, head.file != 0 {
        guard head.byteCount > 0 else { continue }
        let mark = try JSONDecoder().decode(Mark.self, from: bytes.subdata(in: start..<place))
        events.append(.marked(mark))
        continue
      }
      try Self.append(head, path, other, start..<place, to: &events)
    }
    self.events = events
  }

  private static func append(
    _ head: Head, _ path: String, _ other: String, _ bytes: Range<Int>, to events: inout [Event]
  ) throws {
    switch UnicodeScalar(head.kind) {
    case "C": events.append(.created(path: path, file: head.file))
    case "N": events.append(.opened(path: path, file: head.file))
    case "D": events.append(.madeFolder(path: path))
    case "U": events.append(.removed(path: path))
    case "R": events.append(.renamed(from: path, to: other))
    case "E": events.append(.exchanged(path, other))
    case "W": events.append(.wrote(file: head.file, place: head.place, bytes: bytes))
    case "O":
      events.append(.wrote(file: head.file, place: head.place, bytes: bytes))
      events.append(.settled(file: head.file))
    case "T": events.append(.resized(file: head.file, byteCount: head.place))
    case "S": events.append(.synced(file: head.file))
    case "P": events.append(.syncedFolder(path: path))
    case "X": throw Unreadable(description: "the recorder cannot follow \(path)")
    default: throw Unreadable(description: "a record of kind \(head.kind)")
    }
  }
}

/// As in `recorder.c`.
private struct Head {
  let kind: UInt8
  let pathByteCount: Int
  let otherByteCount: Int
  let byteCount: Int
  let file: UInt64
  let place: Int

  static let byteCount = 32

  init(_ bytes: Data, _ place: Int) throws {
    guard place + Self.byteCount <= bytes.count else {
      throw PowerRecord.Unreadable(description: "the record ends in the middle of an event")
    }
    (kind, pathByteCount, otherByteCount, byteCount, file, self.place) = bytes.withUnsafeBytes {
      bytes in
      (
        bytes[place], Int(bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)),
        Int(bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt32.self)),
        Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)),
        bytes.loadUnaligned(fromByteOffset: place + 16, as: UInt64.self),
        Int(bytes.loadUnaligned(fromByteOffset: place + 24, as: UInt64.self))
      )
    }
    guard place + Self.byteCount + pathByteCount + otherByteCount + byteCount <= bytes.count else {
      throw PowerRecord.Unreadable(description: "the record ends in the middle of an event")
    }
  }

  func text(_ bytes: Data, _ place: Int, _ count: Int) -> String {
    count == 0 ? "" : String(decoding: bytes[place..<place + count], as: UTF8.self)
  }
}
