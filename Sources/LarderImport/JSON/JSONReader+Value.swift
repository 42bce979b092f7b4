internal import Larder

// What the latest document holds, for those who ask for a tree of it.

extension JSONReader {
  /// Lends the bytes of a string, a name or a number that is kept as written.
  @inline(__always)
  func withBytes<Result>(
    of entry: JSONTape.Entry, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    let isResolved = entry.kind == .resolvedString || entry.kind == .resolvedName
    let first = isResolved ? scanner.tape.resolved.base : text.bytes.base + text.start
    return body(UnsafeBufferPointer(start: first + entry.start, count: entry.count))
  }

  /// The string, name or number as written at an index of the tape.
  func string(at index: Int) -> String {
    withBytes(of: scanner.tape.entries[index]) { String(decoding: $0, as: UTF8.self) }
  }

  /// The value at an index of the tape, without the places of members.
  func value(at index: Int) -> JSONValue {
    var mark: TextMark?
    return value(at: index, &mark)
  }

  private func value(at index: Int, _ mark: inout TextMark?) -> JSONValue {
    let entry = scanner.tape.entries[index]
    switch entry.kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .integer: return .integer(entry.integer)
    case .unsigned: return .unsigned(entry.payload)
    case .double where entry.isMinusZero: return .minusZero
    case .double: return longNumber(entry).map(JSONValue.number) ?? .double(entry.double)
    case .number: return .number(string(at: index))
    case .value: preconditionFailure("a text in JSON has values of its own alone")
    case .string, .resolvedString, .name, .resolvedName: return .string(string(at: index))
    case .array:
      var elements: [JSONValue] = []
      elements.reserveCapacity(entry.count)
      var element = index + 1
      for _ in 0..<entry.count {
        elements.append(value(at: element, &mark))
        element += scanner.tape.span(at: element)
      }
      return .array(elements)
    case .object: return .object(members(of: index, &mark))
    }
  }

  /// A number as it is written, where it has more digits than every double keeps; nil for others.
  private func longNumber(_ entry: JSONTape.Entry) -> String? {
    let start = text.start + entry.offset
    var end = start
    while end < text.end, isNumberByte(text.bytes.base[end]) { end += 1 }
    guard end - start > 15 else { return nil }
    let written = (start..<end).map { text.bytes.base[$0] }
    let number = String(decoding: written, as: UTF8.self)
    return SignificantDigits.of(number).count > 15 ? number : nil
  }

  /// The members of the object at an index of the tape.
  ///
  /// Goes as deep as values are nested, which the scanner limits.
  private func members(of index: Int, _ mark: inout TextMark?) -> [JSONMember] {
    let count = scanner.tape.entries[index].count
    var members: [JSONMember] = []
    members.reserveCapacity(count)
    var name = index + 1
    for _ in 0..<count {
      let offset = scanner.tape.entries[name + 1].offset
      let position =
        mark == nil ? .start : text.move(&mark!, to: text.start + offset)
      members.append(
        JSONMember(
          name: string(at: name), value: value(at: name + 1, &mark), position: position))
      name += 1 + scanner.tape.span(at: name + 1)
    }
    return members
  }

  /// The latest value; good until the next one is read.
  var tape: DocumentTape {
    DocumentTape(
      entries: UnsafePointer(scanner.tape.entries.base),
      text: UnsafePointer(text.bytes.base + text.start),
      resolved: UnsafePointer(scanner.tape.resolved.base), generation: scanner.names.generation)
  }

  /// Where the latest value begins.
  var position: TextPosition { text.position(of: text.start) }

  /// The latest value, which is a document, as a tree.
  mutating func document() -> JSONDocument {
    let (value, position) = tree()
    guard case .object(let members) = value else { preconditionFailure("documents are objects") }
    return JSONDocument(key: key, members: members, position: position)
  }

  /// The latest value with all its places.
  mutating func tree() -> (value: JSONValue, position: TextPosition) {
    var mark: TextMark? = text.markStart()
    let position = text.position(of: text.start)
    return (value(at: 0, &mark), position)
  }
}

extension JSONTape {
  /// How many entries the value at an index takes.
  @inline(__always)
  func span(at index: Int) -> Int {
    let entry = entries[index]
    return entry.kind == .array || entry.kind == .object ? entry.span : 1
  }
}

extension JSONValue {
  /// Reads a source that holds one value, whole.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  package init(
    readingFrom source: consuming ByteSource, limits: JSONLimits = JSONLimits()
  ) throws(ImportError) {
    var reader = JSONReader(source, limits: limits)
    try reader.value()
    self = reader.tree().value
  }
}
