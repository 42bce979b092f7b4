#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Reading without a Swift type: by the tags of the values and the names of the field tables.

extension ValueReader {
  /// The next value, whatever it is. With `kind` the words of the catalogue are used where
  /// MessagePack has fewer: an array that is a set stays an array. An optional inside an optional
  /// stays an array of one, so that `.some(nil)`, `[null]`, is not mistaken for nil.
  ///
  /// - Parameter nesting: How many values this one is inside of.
  mutating func value(
    as kind: Kind<Int>? = nil, nesting: Int = 0
  ) throws(RecordError) -> Value {
    guard nesting < RecordFormat.maximumNesting else { throw .tooDeep }
    guard at < end else { throw .truncated }
    let tag = at.load(as: UInt8.self)
    switch tag {
    case 0xC0:
      at += 1
      return .null
    case 0xC2, 0xC3: return .bool(try bool())
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3:
      return .integer(try int64())
    case 0xCF: return Value(try uint64())
    case 0xCA, 0xCB: return .double(try double())
    case 0xA0...0xBF, 0xD9...0xDB: return .string(try string())
    case 0xC4...0xC6: return .data(Data(try bytes()))
    case 0xD4...0xD8, 0xC7...0xC9: return try extensionValue()
    case 0x90...0x9F, 0xDC, 0xDD: return try array(as: kind, nesting + 1)
    case 0x80...0x8F, 0xDE, 0xDF: return try dictionary(as: kind, nesting + 1)
    case RecordFormat.marker: return .document(try dynamicDocument(nesting + 1))
    default: throw .unexpected(byte: tag, expected: "a value")
    }
  }

  private mutating func extensionValue() throws(RecordError) -> Value {
    var ahead = self
    switch try ahead.extensionBytes("a value").type {
    case RecordFormat.Extension.date: return .date(try Date._load(from: &self))
    case RecordFormat.Extension.uuid: return .uuid(try UUID._load(from: &self))
    case RecordFormat.Extension.decimal: return .decimal(try Decimal._load(from: &self))
    case RecordFormat.Extension.url: return .url(try URL._load(from: &self))
    case let type: throw .invalid("extension type \(type) is unknown")
    }
  }

  private mutating func array(
    as kind: Kind<Int>?, _ nesting: Int
  ) throws(RecordError) -> Value {
    let count = try arrayCount()
    switch kind {
    case .optional(.optional(let inner)):
      guard count == 1 else { throw .invalid("a nested optional holds \(count) values") }
      return .array([try value(as: .optional(inner), nesting: nesting)])
    case .optional(let inner): return try elements(count, as: inner, nesting)
    default: return try elements(count, as: kind, nesting)
    }
  }

  private mutating func elements(
    _ count: Int, as kind: Kind<Int>?, _ nesting: Int
  ) throws(RecordError) -> Value {
    let element: Kind<Int>? =
      switch kind {
      case .array(let element), .set(let element): element
      default: nil
      }
    var values: [Value] = []
    values.reserveCapacity(min(count, 1024))
    for _ in 0..<count { values.append(try value(as: element, nesting: nesting)) }
    return .array(values)
  }

  private mutating func dictionary(
    as kind: Kind<Int>?, _ nesting: Int
  ) throws(RecordError) -> Value {
    let count = try mapCount()
    var kinds: (key: Kind<Int>?, value: Kind<Int>?)
    if case .dictionary(let key, let value)? = kind?.unwrapped { kinds = (key, value) }
    var pairs: [Value: Value] = [:]
    for _ in 0..<count {
      let key = try value(as: kinds.key, nesting: nesting)
      pairs[key] = try value(as: kinds.value, nesting: nesting)
    }
    return .dictionary(pairs)
  }

  /// The record of an embedded document, by the names of its table; the reader then stands
  /// behind it.
  private mutating func dynamicDocument(_ nesting: Int) throws(RecordError) -> DynamicDocument {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let bytes = UnsafeRawBufferPointer(start: at, count: left)
    let header = try RecordHeader(bytes)
    let document = try DynamicDocument(
      record: bytes, binding: binding, depth: depth + 1, nesting: nesting)
    at += header.byteCount
    return document
  }
}

extension DynamicDocument {
  /// The document in a record of the collection that `binding` is for.
  init(
    record bytes: UnsafeRawBufferPointer, binding: CollectionBinding, depth: Int = 1,
    nesting: Int = 0
  ) throws(RecordError) {
    try self.init(
      RecordReader(bytes, binding: binding, schema: binding.anonymous, depth: depth),
      nesting: nesting)
  }

  /// The document in a record, by the names of the record's own table.
  init(_ record: borrowing RecordReader, nesting: Int = 0) throws(RecordError) {
    let table = record.binding.collection.tables[record.table]
    var fields: [Field] = []
    fields.reserveCapacity(table.fields.count)
    for (slot, field) in table.fields.enumerated() {
      do {
        guard var reader = try record.value(inSlot: slot) else { continue }
        fields.append(Field(field.name, try reader.value(as: field.kind, nesting: nesting)))
      } catch {
        throw RecordError.field(field.name, error)
      }
    }
    self.init(uniqueFields: fields)
  }
}
