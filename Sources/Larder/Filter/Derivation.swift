#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What conditions and orders ask of a field beside its value.
enum Derivation: UInt8, Sendable {
  case isNil, isEmpty, count, lowercased, uppercased

  /// Of a nil value all but ``isNil`` are nil.
  func callAsFunction(_ value: Value) -> Value {
    if self == .isNil { return .bool(value == .null) }
    switch (self, value) {
    case (.isEmpty, .string(let text)): return .bool(text.isEmpty)
    case (.isEmpty, .data(let data)): return .bool(data.isEmpty)
    case (.isEmpty, .array(let elements)): return .bool(elements.isEmpty)
    case (.isEmpty, .dictionary(let pairs)): return .bool(pairs.isEmpty)
    case (.count, .string(let text)): return .integer(Int64(text.count))
    case (.count, .data(let data)): return .integer(Int64(data.count))
    case (.count, .array(let elements)): return .integer(Int64(elements.count))
    case (.count, .dictionary(let pairs)): return .integer(Int64(pairs.count))
    case (.lowercased, .string(let text)): return .string(text.lowercased())
    case (.uppercased, .string(let text)): return .string(text.uppercased())
    default: return .null
    }
  }

  /// Of the next value of `reader`, which is not decoded where its header is enough.
  ///
  /// - Parameter kind: What the type reads the field as.
  func callAsFunction(
    _ reader: inout ValueReader, as kind: Kind<SchemaReference>
  ) throws(RecordError) -> Value {
    if self == .isNil { return .bool(reader.nextIsNil) }
    if reader.nextIsNil { return .null }
    switch (self, kind.unwrapped) {
    case (.isEmpty, .string): return .bool(try reader.stringBytes().isEmpty)
    case (.count, .string):
      var start = reader
      let bytes = try reader.stringBytes()
      if bytes.isASCIIWithoutBreaks { return .integer(Int64(bytes.count)) }
      return .integer(Int64(try start.string().count))
    case (.isEmpty, .data): return .bool(try reader.bytes().isEmpty)
    case (.count, .data): return .integer(Int64(try reader.bytes().count))
    case (.isEmpty, .array), (.isEmpty, .set): return .bool(try reader.arrayCount() == 0)
    case (.count, .array): return .integer(Int64(try reader.arrayCount()))
    case (.isEmpty, .dictionary): return .bool(try reader.mapCount() == 0)
    case (.count, .set(let element)): return try distinctCount(&reader, as: element)
    case (.count, .dictionary(let key, _)): return try distinctKeyCount(&reader, as: key)
    default: return self(try reader.value().read(as: kind))
    }
  }

  /// A set may have been stored as an array, by another version of its type: with elements twice.
  private func distinctCount(
    _ reader: inout ValueReader, as kind: Kind<SchemaReference>
  ) throws(RecordError) -> Value {
    let count = try reader.arrayCount()
    guard count > 1 else { return .integer(Int64(count)) }
    var elements: Set<Value> = []
    for _ in 0..<count { elements.insert(try reader.value().read(as: kind)) }
    return .integer(Int64(elements.count))
  }

  private func distinctKeyCount(
    _ reader: inout ValueReader, as kind: Kind<SchemaReference>
  ) throws(RecordError) -> Value {
    let count = try reader.mapCount()
    guard count > 1 else { return .integer(Int64(count)) }
    var keys: Set<Value> = []
    for _ in 0..<count {
      keys.insert(try reader.value().read(as: kind))
      try reader.skip()
    }
    return .integer(Int64(keys.count))
  }
}

/// Whether the number of elements of a value can be told from what is stored.
func isCountStored(_ type: Any.Type) -> Bool {
  (type as? any StoredCount.Type)?.countIsStored ?? false
}

/// Whether the number of elements can be told from what is stored, whatever the elements' own
/// `==` says.
protocol StoredCount {
  static var countIsStored: Bool { get }
}

extension String: StoredCount { static var countIsStored: Bool { true } }
extension Data: StoredCount { static var countIsStored: Bool { true } }
extension Array: StoredCount { static var countIsStored: Bool { true } }
extension Set: StoredCount {
  static var countIsStored: Bool { Element.self is any Comparand.Type }
}
extension Dictionary: StoredCount {
  static var countIsStored: Bool { Key.self is any Comparand.Type }
}
