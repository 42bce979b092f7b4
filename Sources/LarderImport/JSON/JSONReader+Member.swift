// Documents that stand in a member of the file, or further in.

extension JSONReader {
  /// Goes to the first of the documents at ``path``.
  mutating func beginAtMember() throws(ImportError) {
    try text.requirePlainUTF8()
    guard [.automatic, .array, .keyed].contains(shape) else {
      throw text.error(
        .shape, at: text.position, found: "the shape \(shape) for documents in a member",
        expected: "an array of documents, or documents under their keys")
    }
    for name in path {
      try skipToValue()
      guard try text.peek() == UInt8(ascii: "{") else {
        throw try shapeError("an object with a member \(quoted(name))")
      }
      text.next += 1
      keys.open()
      try findMember(name)
    }
    try skipToValue()
    switch try text.peek() {
    case UInt8(ascii: "[") where shape != .keyed: shape = .array
    case UInt8(ascii: "{") where shape != .array: shape = .keyed
    default:
      throw try shapeError(
        shape == .array
          ? "an array of documents"
          : shape == .keyed
            ? "documents under their keys" : "an array of documents, or documents under their keys")
    }
    text.next += 1
    keys.open()
    key = nil
    stage = .opened
  }

  /// Reads to the end of the objects around the documents.
  mutating func leaveMembers() throws(ImportError) {
    guard !path.isEmpty else { return }
    keys.close()
    for _ in path {
      while try text.significantByte() != UInt8(ascii: "}") {
        try skipComma()
        try name()
        try skipValue()
      }
      text.next += 1
      keys.close()
    }
  }

  /// Moves from behind `{` to behind the colon of a member.
  private mutating func findMember(_ wanted: String) throws(ImportError) {
    var isFirst = true
    while true {
      if try text.significantByte() == UInt8(ascii: "}") {
        throw text.error(
          .shape, at: text.position, found: "the end of an object without \(quoted(wanted))",
          expected: "a member \(quoted(wanted)), in which the documents stand")
      }
      if !isFirst { try skipComma() }
      isFirst = false
      if Array(try name().utf8) == Array(wanted.utf8) { return }
      try skipValue()
    }
  }

  /// Moves over the name of a member, which becomes ``key``, and its colon.
  @discardableResult
  mutating func name() throws(ImportError) -> String {
    _ = try text.significantByte()
    text.keep()
    scanner.mostMembers = .max
    scanner.begin(.name)
    try scan(stopsAtName: true)
    scanner.mostMembers = limits.memberCount
    try takeKey(scanner.tape.entries[0])
    try skipColon()
    text.release()
    return key ?? ""
  }

  private mutating func skipComma() throws(ImportError) {
    guard try text.significantByte() == UInt8(ascii: ",") else {
      throw text.unexpected("`,` or `}`")
    }
    text.next += 1
  }

  /// Moves over a value, which memory holds as a whole as it does a document.
  private mutating func skipValue() throws(ImportError) {
    try skipToValue()
    text.boundDocument(byteCount: limits.documentByteCount)
    text.keep()
    scanner.begin()
    try scan()
    text.unbound()
    text.release()
  }
}
