internal import Larder

/// A JSON text that is read as a whole, and of which parts are cut out as they are written.
///
/// One pass finds where everything stands; nothing is copied but what is asked for. The text is held once, with
/// 16 bytes for each value and name.
package final class JSONMessage {
  private var reader: JSONReader

  /// Reads a text that is one value.
  ///
  /// - Parameter name: What errors call the text.
  /// - Throws: ``ImportError`` for what is not JSON in UTF-8 or exceeds ``JSONLimits``.
  package init(
    _ bytes: [UInt8], name: String, limits: JSONLimits = JSONLimits()
  ) throws(ImportError) {
    var reader = JSONReader(ByteSource(bytes: bytes, name: name), limits: limits)
    try reader.value()
    self.reader = reader
  }

  /// The outermost value.
  package var root: Node { Node(message: self, index: 0) }

  /// One value of the text.
  package struct Node {
    let message: JSONMessage
    let index: Int
  }

  fileprivate func entry(_ index: Int) -> JSONTape.Entry { reader.scanner.tape.entries[index] }

  fileprivate func string(at index: Int) -> String { reader.string(at: index) }

  fileprivate func span(at index: Int) -> Int { reader.scanner.tape.span(at: index) }

  fileprivate func hasBytes(_ index: Int, of name: StaticString) -> Bool {
    reader.withBytes(of: entry(index)) { bytes in
      bytes.count == name.utf8CodeUnitCount
        && bytes.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: bytes.count))
    }
  }

  private func byte(_ place: Int) -> UInt8 { reader.text.bytes[reader.text.start + place] }

  fileprivate func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: reader.text.bytes.base + reader.text.start + range.lowerBound, count: range.count)
  }

  /// The place behind the value at an index of the tape, which has only where each begins.
  fileprivate func end(_ index: Int) -> Int {
    let entry = entry(index)
    switch entry.kind {
    case .value: preconditionFailure("a text in JSON has values of its own alone")
    case .null, .true: return entry.offset + 4
    case .false: return entry.offset + 5
    case .string, .name: return entry.start + entry.count + 1
    case .resolvedString, .resolvedName:
      var place = entry.offset + 1
      while byte(place) != UInt8(ascii: "\"") {
        place += byte(place) == UInt8(ascii: "\\") ? 2 : 1
      }
      return place + 1
    case .integer, .unsigned, .double, .number:
      var place = entry.offset + 1
      let end = reader.scanner.next
      while place < end, isNumberByte(byte(place)) { place += 1 }
      return place
    case .array, .object:
      // The closing bracket stands behind the last value that is inside.
      var last: Int?
      var next = index + 1
      for _ in 0..<entry.count {
        if entry.kind == .object { next += 1 }
        last = next
        next += span(at: next)
      }
      var place = last.map(end) ?? entry.offset + 1
      while byte(place) <= 0x20 { place += 1 }
      return place + 1
    }
  }

  private func isNumberByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "E"), UInt8(ascii: "e"):
      true
    default: false
    }
  }
}

extension JSONMessage.Node {
  private var entry: JSONTape.Entry { message.entry(index) }

  package var isNull: Bool { entry.kind == .null }
  package var isObject: Bool { entry.kind == .object }

  /// The text of a string; nil for other values.
  package var string: String? {
    entry.kind == .string || entry.kind == .resolvedString ? message.string(at: index) : nil
  }

  /// An integer that is not above `Int.max`; nil for other values.
  package var integer: Int? { entry.kind == .integer ? Int(exactly: entry.integer) : nil }

  package var bool: Bool? {
    switch entry.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The elements of an array; nil for other values.
  package var elements: [JSONMessage.Node]? {
    guard entry.kind == .array else { return nil }
    var elements: [JSONMessage.Node] = []
    elements.reserveCapacity(entry.count)
    var next = index + 1
    for _ in 0..<entry.count {
      elements.append(.init(message: message, index: next))
      next += message.span(at: next)
    }
    return elements
  }

  /// The members of an object, in their order; nil for other values.
  package var members: [(name: String, value: JSONMessage.Node)]? {
    guard entry.kind == .object else { return nil }
    var members: [(name: String, value: JSONMessage.Node)] = []
    var next = index + 1
    for _ in 0..<entry.count {
      members.append((message.string(at: next), .init(message: message, index: next + 1)))
      next += 1 + message.span(at: next + 1)
    }
    return members
  }

  /// The member of an object; nil where there is none, and for other values. Looks at one name after the other.
  package subscript(name: StaticString) -> JSONMessage.Node? {
    guard entry.kind == .object else { return nil }
    var next = index + 1
    for _ in 0..<entry.count {
      if message.hasBytes(next, of: name) { return .init(message: message, index: next + 1) }
      next += 1 + message.span(at: next + 1)
    }
    return nil
  }

  /// Lends the bytes of the value as they are written.
  package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    body(message.bytes(entry.offset..<message.end(index)))
  }

  /// What the value is, for a message: `a string`, `null`.
  package var phrase: String {
    switch entry.kind {
    case .null: "null"
    case .true, .false: "a boolean"
    case .integer, .unsigned, .double, .number: "a number"
    case .string, .resolvedString, .name, .resolvedName: "a string"
    case .array: "an array"
    case .object: "an object"
    case .value: preconditionFailure("a text in JSON has values of its own alone")
    }
  }
}
