#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The key of a document that lacks the key field.
package enum OutsideKey {
  /// There is none.
  case none
  /// The one that a keyed file gives the document.
  case text(String)
  /// One that was made for it.
  case made(UUID)
}

/// The encoded key of a document on a tape.
struct PlannedKey: ~Copyable {
  private let base = UnsafeMutableRawPointer.allocate(
    byteCount: KeyKind.maximumByteCount, alignment: 8)
  private var count = 0
  /// The number of the key field's name; 0 while it is not known.
  var name = 0
  /// The key where the document lacks it.
  var outside: Value?
  /// Where an outside key is written, once one was.
  var member: RecordPlan.Member?

  deinit { base.deallocate() }

  /// The key that was set; it holds until the next one.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Sets the key; false for one that cannot be stored.
  mutating func set(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let start = key.baseAddress, (1...KeyKind.maximumByteCount).contains(key.count) else {
      return false
    }
    base.copyMemory(from: start, byteCount: key.count)
    count = key.count
    return true
  }

  mutating func set(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { set($0) } }
}

extension RecordPlan {
  /// Finds the key of a document; false where it has none, or one that the plan has nothing for.
  mutating func takeKey(_ tape: DocumentTape, _ outside: OutsideKey) -> Bool {
    guard let field = binding.collection.description.keyField else { return false }
    key.outside = nil
    let count = tape.entries[0].count
    var next = 1
    for _ in 0..<count {
      if isKeyField(field, next, tape) {
        if case .made = outside { return false }
        return setKey(next, tape)
      }
      next = tape.end(ofValueAt: next &+ 1)
    }
    let value: Value
    switch outside {
    case .none: return false
    case .made(let id): value = .uuid(id)
    case .text(let text):
      guard let read = Value(writtenKey: text, kind: binding.collection.keyKind)
      else { return false }
      value = read
    }
    guard let encoded = value.encodedKey(of: binding.collection.keyKind) else { return false }
    key.outside = value
    return key.set(encoded)
  }

  @inline(__always)
  private mutating func isKeyField(_ field: String, _ index: Int, _ tape: DocumentTape) -> Bool {
    let number = tape.entries[index].name
    if key.name > 0 { return number == key.name }
    guard number > 0, tape.string(at: index).utf8.elementsEqual(field.utf8) else { return false }
    key.name = number
    return true
  }

  private mutating func setKey(_ index: Int, _ tape: DocumentTape) -> Bool {
    let member = member(index, tape.entries[index], tape, in: 0)
    guard member.slot >= 0 else { return false }
    let node = nodes[Int(member.node)]
    let entry = tape.entries[index &+ 1]
    switch (binding.collection.keyKind, entry.kind) {
    case (.string, .string), (.string, .resolvedString):
      guard node.form == .string || node.form == .any else { return false }
      let bytes = UnsafeRawBufferPointer(
        tape.bytes(of: entry, isResolved: entry.kind == .resolvedString))
      if Bytes.areASCII(bytes) { return key.set(bytes) }
      return tape.string(at: index &+ 1).withEncodedKey { key.set([UInt8]($0)) }
    case (.integer, .integer):
      return entry.integer.withEncodedKey { key.set([UInt8]($0)) }
    case (.unsigned, .integer):
      guard let number = UInt64(exactly: entry.integer) else { return false }
      return number.withEncodedKey { key.set([UInt8]($0)) }
    case (.unsigned, .unsigned):
      return entry.payload.withEncodedKey { key.set([UInt8]($0)) }
    case (.uuid, .value):
      guard let values = tape.values, case .uuid = values[Int(entry.payload)] else { return false }
      return values[Int(entry.payload)].encodedKey(of: .uuid).map { key.set($0) } ?? false
    case (.uuid, .string), (.uuid, .resolvedString):
      guard !entry.isLiteral else { return false }
      let reading = node.form == .text ? kinds[Int(node.kind)].reading : nil
      let value = value(of: tape.string(at: index &+ 1), reading)
      return value.encodedKey(of: .uuid).map { key.set($0) } ?? false
    default: return false
    }
  }

  /// Writes a document whose key was found as a record, up to its end; false where it is not as the
  /// plan has it, and the record must be given up.
  mutating func putDocument(_ tape: DocumentTape, _ writer: inout RecordWriter) -> Bool {
    _ = writer.begin(
      RecordWriter.Frame(table: documents[0].table, slotCount: documents[0].slotCount))
    guard let outside = key.outside else {
      return putMembers(0, tape, document: 0, &writer)
    }
    guard let member = outsideMember(), member.slot >= 0 else { return false }
    writer.beginValue(slot: Int(member.slot))
    guard put(outside: outside, nodes[Int(member.node)], &writer) else { return false }
    return putMembers(0, tape, document: 0, &writer, besides: member.isRequired ? 1 : 0)
  }

  private mutating func outsideMember() -> Member? {
    if let member = key.member { return member }
    guard let field = binding.collection.description.keyField else { return nil }
    let member = makeMember(field, in: 0)
    key.member = member
    return member
  }

  private func put(outside value: Value, _ node: Node, _ writer: inout RecordWriter) -> Bool {
    switch (value, node.form) {
    case (.string(let text), .string), (.string(let text), .any):
      guard node.tokens.contains(.string) else { return false }
      writer.put(text)
    case (.uuid(let id), .any): writer.put(id)
    case (.uuid(let id), .text):
      guard node.tokens.contains(.uuid), kinds[Int(node.kind)].kind == .uuid else { return false }
      writer.put(id)
    case (.integer(let number), .integer):
      guard node.tokens.contains(number < 0 ? .negative : .positive),
        Double(exactly: number) != nil || node.tokens.contains(.inexact), node.width.holds(number)
      else { return false }
      writer.put(number)
    default: return false
    }
    return true
  }
}
