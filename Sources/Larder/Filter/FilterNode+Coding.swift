// Conditions as bytes, for the catalogue: a partial index is maintained by writers that do not
// know the type that declared it.

extension FilterNode {
  /// This condition as MessagePack; nil where a part of it can only be computed from the decoded
  /// document.
  func encoded() -> [UInt8]? {
    var writer = RecordWriter(binding: .none)
    guard encode(into: &writer) else { return nil }
    return writer.withBytes { [UInt8]($0) }
  }

  fileprivate func encode(into writer: inout RecordWriter) -> Bool {
    writer.putArray(count: 2)
    switch self {
    case .constant(let value):
      writer.put(0 as Int64)
      writer.put(value)
    case .conjunction(let parts), .disjunction(let parts):
      if case .conjunction = self { writer.put(1 as Int64) } else { writer.put(2 as Int64) }
      writer.putArray(count: parts.count)
      for part in parts where !part.encode(into: &writer) { return false }
    case .not(let part):
      writer.put(3 as Int64)
      return part.encode(into: &writer)
    case .test(.computed, _), .test(.rank, _), .search, .behind, .key, .tooDeep:
      return false
    case .test(.field(let path), let comparison):
      writer.put(4 as Int64)
      writer.putArray(count: 2)
      path.encode(into: &writer)
      return comparison.encode(into: &writer)
    case .test(let operand, let comparison):
      writer.put(5 as Int64)
      writer.putArray(count: 2)
      return operand.encode(into: &writer) && comparison.encode(into: &writer)
    case .relation(let left, let relation, let right):
      writer.put(6 as Int64)
      writer.putArray(count: 3)
      writer.put(Int64(relation.rawValue))
      return left.encode(into: &writer) && right.encode(into: &writer)
    }
    return true
  }

  /// - Throws: ``RecordError`` for bytes that ``encoded()`` does not write.
  init(decoding bytes: [UInt8]) throws(RecordError) {
    let node: Result<FilterNode, RecordError> = bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return .failure(.truncated) }
      do throws(RecordError) {
        var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
        return .success(try FilterNode(&reader, depth: 0))
      } catch {
        return .failure(error)
      }
    }
    self = try node.get()
  }

  fileprivate init(_ reader: inout ValueReader, depth: Int) throws(RecordError) {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    guard try reader.arrayCount() == 2 else { throw .invalid("a condition is none") }
    switch try reader.int64() {
    case 0: self = .constant(try reader.bool())
    case let code where code == 1 || code == 2:
      var parts: [FilterNode] = []
      for _ in 0..<(try reader.arrayCount()) {
        parts.append(try FilterNode(&reader, depth: depth + 1))
      }
      self = code == 1 ? .conjunction(parts) : .disjunction(parts)
    case 3: self = .not(try FilterNode(&reader, depth: depth + 1))
    case 4:
      guard try reader.arrayCount() == 2 else { throw .invalid("a comparison is none") }
      let path = try [FieldStep](&reader)
      self = .test(.field(path), try Comparison(&reader, depth: depth))
    case 5:
      guard try reader.arrayCount() == 2 else { throw .invalid("a comparison is none") }
      let operand = try Operand(&reader)
      self = .test(operand, try Comparison(&reader, depth: depth))
    case 6:
      guard try reader.arrayCount() == 3 else { throw .invalid("a relation is none") }
      let code = try reader.int64()
      guard let relation = UInt8(exactly: code).flatMap(Relation.init) else {
        throw .invalid("relation \(code) is unknown")
      }
      let left = try Operand(&reader)
      self = .relation(left, relation, try Operand(&reader))
    case let code: throw .invalid("condition \(code) is unknown")
    }
  }
}

extension [FieldStep] {
  fileprivate func encode(into writer: inout RecordWriter) {
    writer.putArray(count: count)
    for step in self { step.encode(into: &writer) }
  }

  fileprivate init(_ reader: inout ValueReader) throws(RecordError) {
    self = []
    for _ in 0..<(try reader.arrayCount()) { append(try FieldStep(&reader)) }
    guard !isEmpty else { throw .invalid("a comparison names no field") }
  }
}

extension Operand {
  fileprivate func encode(into writer: inout RecordWriter) -> Bool {
    writer.putArray(count: 2)
    switch self {
    case .computed, .rank: return false
    case .field(let path):
      path.encode(into: &writer)
      writer.putNil()
    case .derived(let path, let derivation):
      path.encode(into: &writer)
      writer.put(Int64(derivation.rawValue))
    }
    return true
  }

  fileprivate init(_ reader: inout ValueReader) throws(RecordError) {
    guard try reader.arrayCount() == 2 else { throw .invalid("an operand is none") }
    let path = try [FieldStep](&reader)
    if reader.skipNil() {
      self = .field(path)
      return
    }
    let code = try reader.int64()
    guard let derivation = UInt8(exactly: code).flatMap(Derivation.init) else {
      throw .invalid("derivation \(code) is unknown")
    }
    self = .derived(path, derivation)
  }
}

extension FieldStep {
  fileprivate func encode(into writer: inout RecordWriter) {
    writer.putArray(count: 3)
    writer.put(name)
    // Documents on the way are never decoded, so that their types need no name.
    kind.withoutDocuments.encoded().withUnsafeBytes { writer.put($0) }
    if let absent {
      writer.putArray(count: 1)
      writer.putNatural(absent)
    } else {
      writer.putNil()
    }
  }

  fileprivate init(_ reader: inout ValueReader) throws(RecordError) {
    guard try reader.arrayCount() == 3 else { throw .invalid("a field is none") }
    let name = try reader.string()
    var bytes = try reader.bytes()[...]
    let kind = try Kind<Int>(decoding: &bytes, depth: 0)
    var absent: Value?
    if !reader.skipNil() {
      guard try reader.arrayCount() == 1 else { throw .invalid("a default is none") }
      absent = try reader.value()
    }
    self.init(name: name, kind: kind.withoutDocuments.mapReferences(Self.none), absent: absent)
  }

  /// Stands where no document is left.
  private static func none(_: Int) -> SchemaReference { SchemaReference(NoFields.self) }
}

/// An embedded document without fields.
private struct NoFields: EmbeddedDocument {
  static let schema = Schema<NoFields>("", fields: [])
  func encode(into record: inout RecordWriter) {}
  init(from record: borrowing RecordReader) throws(RecordError) {}
}

extension Kind {
  /// This kind with `any` for the documents in it.
  fileprivate var withoutDocuments: Kind<Int> {
    switch self {
    case .document: .any
    case .optional(let inner): .optional(inner.withoutDocuments)
    case .array(let element): .array(element.withoutDocuments)
    case .set(let element): .set(element.withoutDocuments)
    case .dictionary(let key, let value):
      .dictionary(key.withoutDocuments, value.withoutDocuments)
    default: mapReferences { _ in 0 }
    }
  }
}

extension Comparison {
  private var code: Int64 {
    switch self {
    case .compare(let relation, _): Int64(relation.rawValue)
    case .isAny: 5
    case .containsElement: 6
    case .hasPrefix: 7
    case .hasSuffix: 8
    case .containsText: 9
    case .containsMatch: 10
    }
  }

  /// What it compares with; nil where that is no value.
  private var operand: Value? {
    switch self {
    case .compare(_, let value), .containsElement(let value): value
    case .isAny(let values): .array(values)
    case .hasPrefix(let text), .hasSuffix(let text), .containsText(let text): .string(text)
    case .containsMatch: nil
    }
  }

  fileprivate func encode(into writer: inout RecordWriter) -> Bool {
    writer.putArray(count: 2)
    writer.put(code)
    if case .containsMatch(let condition) = self { return condition.encode(into: &writer) }
    writer.putNatural(operand ?? .null)
    return true
  }

  fileprivate init(_ reader: inout ValueReader, depth: Int) throws(RecordError) {
    guard try reader.arrayCount() == 2 else { throw .invalid("a comparison is none") }
    let code = try reader.int64()
    if code == 10 {
      self = .containsMatch(try FilterNode(&reader, depth: depth + 1))
      return
    }
    switch (code, try reader.value()) {
    case (5, .array(let values)): self = .isAny(values)
    case (6, let value): self = .containsElement(value)
    case (7, .string(let text)): self = .hasPrefix(text)
    case (8, .string(let text)): self = .hasSuffix(text)
    case (9, .string(let text)): self = .containsText(text)
    case (_, let value):
      guard let relation = UInt8(exactly: code).flatMap(Relation.init) else {
        throw .invalid("comparison \(code) is unknown")
      }
      self = .compare(relation, value)
    }
  }
}
