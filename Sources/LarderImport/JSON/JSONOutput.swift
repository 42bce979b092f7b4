package import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Values as JSON that brings them back where the catalogue knows their kinds.
///
/// What JSON has no notation for is text: dates (``DateText``), data in Base64, UUIDs, URLs, NaN and
/// the infinities; decimals too, whose digits many readers of JSON round. An optional inside of an
/// optional is an array of one: `[null]` is not `null`.
///
/// Where the catalogue says no more than that a field takes any kind, an export puts a tag before such
/// text: see ``TaggedValue``.
package struct JSONOutput {
  private let isPretty: Bool
  /// Whether what is written is to be imported again.
  private var isTagged = false
  package private(set) var bytes: [UInt8] = []

  /// - Parameter isPretty: Whether every member and element has a line of its own.
  package init(isPretty: Bool = false) { self.isPretty = isPretty }

  /// A value as JSON, in one line unless it is to be pretty.
  package static func text(of value: Value, pretty: Bool = false) -> String {
    var output = JSONOutput(isPretty: pretty)
    output.write(value)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  /// A document as an export writes it, in one line unless it is to be pretty.
  ///
  /// - Parameter place: What the catalogue knows of it.
  package static func text(
    of document: DynamicDocument, in place: FieldPlace?, pretty: Bool = false
  ) -> String {
    var output = JSONOutput(isPretty: pretty)
    output.write(document, in: place?.holdsAny == true ? place : nil)
    return String(decoding: output.bytes, as: UTF8.self)
  }

  /// Forgets what was written, and keeps the memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes a value behind what was written.
  package mutating func write(_ value: Value) { write(value, nil, depth: 0) }

  /// Writes a document for an import to bring back.
  ///
  /// - Parameter place: What the catalogue knows of it, if there may be values of any kind in it.
  mutating func write(_ document: DynamicDocument, in place: FieldPlace?) {
    isTagged = true
    write(plain: .document(document), place, depth: 0)
  }

  /// Writes the value of a field for an import to bring back.
  ///
  /// - Parameter place: Where it stands, if something of any kind may stand there or further in.
  mutating func write(_ value: Value, in place: FieldPlace?) {
    isTagged = true
    write(value, place, depth: 0)
  }

  private mutating func write(_ value: Value, _ place: FieldPlace?, depth: Int) {
    if isTagged, let tag = TaggedValue.tag(of: value, isKindKnown: place?.kind != .any) {
      return write(value, as: tag, place, depth: depth)
    }
    write(plain: value, place, depth: depth)
  }

  private mutating func write(
    _ value: Value, as tag: TaggedValue.Tag, _ place: FieldPlace?, depth: Int
  ) {
    put("{")
    write(quoted: tag.name)
    put(": ")
    if case .dictionary(let pairs) = value, tag == .dictionary {
      let pairs = pairs.sorted { Self.isOrdered($0.key.sortingText, $1.key.sortingText) }
      write(pairs, between: "[", "]", depth) { writer, pair in
        writer.write(.array([pair.key, pair.value]), place, depth: depth + 1)
      }
    } else {
      write(plain: value, place, depth: depth)
    }
    put("}")
  }

  private mutating func write(plain value: Value, _ place: FieldPlace?, depth: Int) {
    switch value {
    case .null: put("null")
    case .bool(let value): put(value ? "true" : "false")
    case .integer(let value): put("\(value)")
    case .unsigned(let value): put("\(value)")
    case .double(let value):
      if let text = ValueText.text(of: value) { write(quoted: text) } else { put("\(value)") }
    case .string(let value): write(quoted: value)
    case .array(let values):
      let element = place?.anyElement
      write(values, between: "[", "]", depth) { $0.write($1, element, depth: depth + 1) }
    case .document(let document):
      write(document.fields, between: "{", "}", depth) { writer, field in
        writer.write(
          name: field.name, field.value, place?.anyMember(field.name), depth: depth + 1)
      }
    case .dictionary(let pairs):
      let members = pairs.map { (name: $0.key.plainText ?? "\($0.key)", value: $0.value) }
        .sorted { Self.isOrdered($0.name, $1.name) }
      write(members, between: "{", "}", depth) { writer, member in
        writer.write(
          name: member.name, member.value, place?.anyMember(member.name), depth: depth + 1)
      }
    case .data, .date, .uuid, .url, .decimal: write(quoted: value.plainText ?? "")
    }
  }

  /// Whether a key stands before another. Swift's `<` has no order for some texts of which one is not
  /// normalized, and theirs would be that of a hash table.
  private static func isOrdered(_ first: String, _ second: String) -> Bool {
    first.utf8.lexicographicallyPrecedes(second.utf8)
  }

  private mutating func write<Item>(
    _ items: [Item], between open: String, _ close: String, _ depth: Int,
    _ body: (inout JSONOutput, Item) -> Void
  ) {
    put(open)
    for (index, item) in items.enumerated() {
      if index > 0 { put(isPretty ? "," : ", ") }
      if isPretty { breakLine(depth + 1) }
      body(&self, item)
    }
    if isPretty, !items.isEmpty { breakLine(depth) }
    put(close)
  }

  private mutating func breakLine(_ depth: Int) {
    bytes.append(UInt8(ascii: "\n"))
    for _ in 0..<depth * 2 { bytes.append(UInt8(ascii: " ")) }
  }

  private mutating func write(
    name: String, _ value: Value, _ place: FieldPlace?, depth: Int
  ) {
    write(quoted: name)
    put(": ")
    write(value, place, depth: depth)
  }

  mutating func put(_ text: String) { bytes += text.utf8 }

  private mutating func write(quoted string: String) {
    var string = string
    bytes.append(UInt8(ascii: "\""))
    string.withUTF8 { text in
      var start = 0
      for index in text.indices {
        guard let escape = Self.escape(text, at: index) else { continue }
        let end = escape.byteCount == 2 ? index - 1 : index
        bytes += text[start..<end]
        put(escape.text)
        start = index + 1
      }
      bytes += text[start...]
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// The escape for the scalar that ends at `index`; nil where it stands for itself.
  private static func escape(
    _ text: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> (text: String, byteCount: Int)? {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "\""): return ("\\\"", 1)
    case UInt8(ascii: "\\"): return ("\\\\", 1)
    case 0x0A: return ("\\n", 1)
    case 0x0D: return ("\\r", 1)
    case 0x09: return ("\\t", 1)
    // The last ones mean something to terminals, too.
    case 0x00..<0x20, 0x7F: return (hexadecimal(byte), 1)
    case 0x80...0x9F where index > 0 && text[index - 1] == 0xC2: return (hexadecimal(byte), 2)
    default: return nil
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}

extension Value {
  /// What keys of a dictionary are sorted by, so that it is written as the same text every time.
  fileprivate var sortingText: String {
    // Keys of two kinds may have the same text.
    "\(plainText ?? "") \(TaggedValue.tag(of: self, isKindKnown: false)?.name ?? "") \(self)"
  }

  /// The text of a scalar, as a field of a table or the name of a member has it; nil for nil and
  /// for values that hold others.
  package var plainText: String? {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): ValueText.text(of: value) ?? "\(value)"
    case .string(let value): value
    case .data(let value): value.base64EncodedString()
    case .date(let value): DateText.text(of: value)
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .decimal(let value): "\(value)"
    case .null, .array, .dictionary, .document: nil
    }
  }
}
