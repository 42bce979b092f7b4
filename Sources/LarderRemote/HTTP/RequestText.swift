#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The body of a request: JSON that is written from front to back, with documents as they are.
struct RequestText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Begins an object, as a member's value or as an element.
  mutating func open(_ name: StaticString? = nil) {
    if let name { begin(name) } else { separate() }
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  mutating func close() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func add(_ name: StaticString, _ text: String?) {
    begin(name)
    if let text { append(quoted: text) } else { bytes.append(contentsOf: "null".utf8) }
    needsComma = true
  }

  mutating func add(_ name: StaticString, _ number: Int) {
    begin(name)
    bytes.append(contentsOf: String(number).utf8)
    needsComma = true
  }

  mutating func addArray<Elements: Sequence>(
    _ name: StaticString, _ elements: Elements,
    _ add: (inout RequestText, Elements.Element) -> Void
  ) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for element in elements { add(&self, element) }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A mutation, with its document as it is written.
  mutating func add(_ mutation: Mutation) {
    open()
    add("id", mutation.id)
    add("collection", mutation.key.collection)
    add("key", mutation.key.key)
    add("base", mutation.base)
    if let document = mutation.document {
      begin("document")
      bytes.append(contentsOf: document.json)
    } else {
      begin("deleted")
      bytes.append(contentsOf: "true".utf8)
    }
    close()
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func begin(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
  }

  mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u00").utf8)
        bytes.append(contentsOf: digits.utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
