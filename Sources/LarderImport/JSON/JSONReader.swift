/// One step through a JSON text.
package enum JSONEvent: Equatable, Sendable {
  /// A `{`.
  case beginObject
  /// The name of a member, whose value comes next.
  case name(String)
  /// The `}` of the innermost object.
  case endObject
  /// A `[`.
  case beginArray
  /// The `]` of the innermost array.
  case endArray
  /// A null, bool, number or string; never an array or object.
  case scalar(JSONValue)
}

/// A strict JSON reader (RFC 8259) that gives one event at a time.
///
/// It holds one chunk of its source, the string it is in and the names of the objects it is in,
/// however large the file. Input that is not exactly JSON in UTF-8 is refused, as are names that
/// stand twice in one object and whatever exceeds ``JSONLimits``.
///
/// A string that lies in one chunk becomes a `String` straight from there. One that a chunk's end
/// cuts, or that has escapes, is gathered run by run in a buffer that is used again. A scalar, an
/// escape, a literal or a number that is cut is brought into one piece by sliding the unread
/// bytes to the front before more are read.
package struct JSONReader: ~Copyable, Sendable {
  var text: TextWindow
  let limits: JSONLimits

  /// Where the latest event began; where the refused thing stands is in the error.
  package internal(set) var position = TextPosition.start

  /// How many arrays and objects may be inside one another, those around documents included.
  var mostContainers: Int

  /// Whether the outermost object may have any number of members.
  var rootIsUnlimited = false

  /// The arrays and objects that are open; true for an object.
  var containers: [Bool] = []
  var names = MemberNames()

  /// Where a string is gathered that does not lie in one piece.
  var gathered: [UInt8] = []

  var state = State.beforeText
  private var failure: ImportError?

  /// What may come next.
  enum State {
    case beforeText
    /// Just behind `[` or `{`.
    case opened
    /// Behind the `:` of a member, or at the beginning of a line.
    case beforeValue
    /// Behind a value inside an array or object.
    case afterValue
    /// Behind the outermost value.
    case afterText
  }

  /// A reader at the beginning of `source`.
  package init(_ source: consuming ByteSource, limits: JSONLimits = JSONLimits()) {
    text = TextWindow(source)
    self.limits = limits.honoured
    mostContainers = self.limits.depth
  }

  /// What errors call the source.
  package var file: String { text.source.name }

  /// How many bytes the source has handed out, and has in all; for progress.
  package var consumedByteCount: Int { text.source.consumedByteCount }

  /// How many bytes the source has in all; `nil` when only the end will tell.
  package var totalByteCount: Int? { text.source.totalByteCount }

  /// The next event, or `nil` when the file holds one value and nothing behind it.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read. The reader stays
  ///   where it is: every further call throws the same error.
  package mutating func next() throws(ImportError) -> JSONEvent? {
    if let failure { throw failure }
    do {
      return try step()
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func step() throws(ImportError) -> JSONEvent? {
    switch state {
    case .afterValue:
      return try afterValue()
    case .beforeValue:
      return try begin(try text.significantByte())
    case .opened:
      let byte = try text.significantByte()
      if let end = end(byte) { return end }
      return try isInObject ? name(byte) : begin(byte)
    case .beforeText:
      try text.requirePlainUTF8()
      return try begin(try text.significantByte())
    case .afterText:
      guard try text.significantByte() == nil else {
        throw text.unexpected("the end of the file after its one value")
      }
      return nil
    }
  }

  private var isInObject: Bool { containers[containers.count - 1] }

  private mutating func afterValue() throws(ImportError) -> JSONEvent {
    let byte = try text.significantByte()
    if byte == UInt8(ascii: ",") {
      text.next += 1
      let following = try text.significantByte()
      return try isInObject ? name(following) : begin(following)
    }
    guard let end = end(byte) else {
      throw text.unexpected(isInObject ? "`,` or `}`" : "`,` or `]`")
    }
    return end
  }

  /// The end of the current array or object, if `byte` is that.
  private mutating func end(_ byte: UInt8?) -> JSONEvent? {
    guard byte == UInt8(ascii: isInObject ? "}" : "]") else { return nil }
    position = text.position
    text.next += 1
    let wasObject = containers.removeLast()
    if wasObject { names.close() }
    state = containers.isEmpty ? .afterText : .afterValue
    return wasObject ? .endObject : .endArray
  }

  /// A member's name that begins with `byte`, and the colon behind it.
  private mutating func name(_ byte: UInt8?) throws(ImportError) -> JSONEvent {
    guard byte == UInt8(ascii: "\"") else {
      throw text.unexpected("a member's name in `\"`")
    }
    position = text.position
    if names.count >= limits.memberCount, !(rootIsUnlimited && containers.count == 1) {
      throw text.error(.memberCount, limits.memberCount, of: "members in an object", at: position)
    }
    let name = try string()
    guard names.insert(name) else {
      throw text.error(
        .duplicateKey, at: position, found: "a second \(quoted(name)) in one object",
        expected: "each name once")
    }
    guard try text.significantByte() == UInt8(ascii: ":") else {
      throw text.unexpected("`:`")
    }
    text.next += 1
    state = .beforeValue
    return .name(name)
  }

  /// The value that begins with `byte`.
  private mutating func begin(_ byte: UInt8?) throws(ImportError) -> JSONEvent {
    position = text.position
    let value: JSONValue
    switch byte ?? 0 {
    case UInt8(ascii: "{"): return try open(isObject: true)
    case UInt8(ascii: "["): return try open(isObject: false)
    case UInt8(ascii: "\""): value = .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): value = try number()
    case UInt8(ascii: "t"): value = try literal("true", .bool(true))
    case UInt8(ascii: "f"): value = try literal("false", .bool(false))
    case UInt8(ascii: "n"): value = try literal("null", .null)
    default: throw text.unexpected("a value")
    }
    state = containers.isEmpty ? .afterText : .afterValue
    return .scalar(value)
  }

  private mutating func open(isObject: Bool) throws(ImportError) -> JSONEvent {
    guard containers.count < mostContainers else {
      throw text.error(
        .depth, limits.depth, of: "arrays and objects inside one another", at: position)
    }
    text.next += 1
    containers.append(isObject)
    if isObject { names.open() }
    state = .opened
    return isObject ? .beginObject : .beginArray
  }

  private mutating func literal(
    _ spelling: StaticString, _ value: JSONValue
  ) throws(ImportError) -> JSONValue {
    let count = spelling.utf8CodeUnitCount
    guard try text.has(count),
      spelling.withUTF8Buffer({ text.buffer[text.next..<text.next + count].elementsEqual($0) })
    else { throw text.unexpected("a value") }
    text.next += count
    return value
  }
}
