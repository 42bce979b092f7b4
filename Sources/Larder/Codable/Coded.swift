/// A value that is stored by way of its `Codable`: in a field of kind `any`, in MessagePack, where
/// containers are dictionaries and arrays.
///
/// Put fields of such types with ``RecordWriter/put(coding:at:userInfo:)``, or declare a field of
/// this type. Strings, numbers, `Bool`, `Data`, `Date`, `UUID`, `URL` and `Decimal` are exact at any
/// depth. Dictionaries are sorted by their keys, sets by their elements, so that equal values have
/// equal bytes; only a set, or a dictionary with keys other than text and integers, that a type
/// lets encode itself (`try tags.encode(to: encoder)`) keeps the order that it has in this process.
public struct Coded<Value: Codable> {
  /// The value that is encoded.
  public var value: Value

  /// Wraps a value, to store it by its own `Codable` conformance.
  public init(_ value: Value) { self.value = value }
}

extension Coded: Sendable where Value: Sendable {}
extension Coded: Equatable where Value: Equatable {}
extension Coded: Hashable where Value: Hashable {}

extension Coded: Storable {
  public static var _kind: Kind<SchemaReference> { .any }

  /// Writes the value, or notes with the writer that it cannot be encoded: the save then throws
  /// ``StoreError/unwritable(collection:key:reason:)`` with the coding path.
  public func _store(into writer: inout RecordWriter) {
    writer.putCoded(value)
  }

  public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let value = try reader.coded(Value.self)
    try reader.skip()
    return Self(value)
  }

  /// nil for an optional; other values have none.
  public static var _absent: Self? {
    func none<Wrapped: ExpressibleByNilLiteral>(_: Wrapped.Type) -> Self {
      Self(unsafeBitCast(Wrapped(nilLiteral: ()), to: Value.self))
    }
    guard CodingTraits.of(Value.self).isOptional else { return nil }
    return (Value.self as? any ExpressibleByNilLiteral.Type).map { none($0) }
  }

  public static var _mayStoreNil: Bool { true }
}

extension RecordWriter {
  /// Puts the value of a `Codable` field with this number in the type's schema; see ``Coded``.
  ///
  /// A value that cannot be encoded makes the save throw
  /// ``StoreError/unwritable(collection:key:reason:)`` with the field's name and the coding path.
  ///
  /// - Parameter userInfo: What the value's `encode(to:)` finds in its encoder.
  public mutating func put<Value: Codable>(
    coding value: Value, at field: Int, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    expectField(field)
    let slot = Int(frame.slots[field])
    beginValue(slot: slot)
    guard failure == nil else { return putNil() }
    putCoded(value, userInfo)
    // A native value has named the field itself.
    if let reason = failure, CodingTraits.of(Value.self).native == nil {
      failure = .field(binding.collection.tables[frame.table].fields[slot].name, reason)
    }
  }

  mutating func putCoded<Value: Encodable>(
    _ value: Value, _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    if let native = CodingTraits.of(Value.self).native { return native.store(value, into: &self) }
    do {
      try codableGuest.withOutput(of: value, userInfo) { $0.putValue(into: &self) }
    } catch {
      failure = failure ?? error
      putNil()
    }
  }
}

extension RecordReader {
  /// The value of the `Codable` field with this number in the type's schema; the declared default
  /// where the record has none. See ``Coded``.
  ///
  /// - Parameter userInfo: What the value's `init(from:)` finds in its decoder.
  /// - Throws: ``RecordError/field(_:_:)`` with the field's name and the coding path, when the
  ///   bytes do not hold a `Value` or the field is missing and has no default.
  public func get<Value: Codable>(
    coding field: Int, as type: Value.Type = Value.self,
    userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(RecordError) -> Value {
    expectField(field)
    do {
      guard let reader = try value(inSlot: Int(slots[field])) else {
        let missing: Coded<Value> = try absent(field)
        return missing.value
      }
      return try reader.coded(type, userInfo)
    } catch {
      throw named(error, field)
    }
  }
}

extension ValueReader {
  /// The value in front of which the reader stands, and stays, by way of its `Codable`.
  ///
  /// - Throws: ``RecordError`` with the coding path.
  func coded<Value: Decodable>(
    _ type: Value.Type, _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(RecordError) -> Value {
    do {
      return try decoded(type, userInfo)
    } catch {
      throw RecordError(decoding: error)
    }
  }

  /// The same.
  ///
  /// - Throws: `DecodingError`, or whatever the type's `init(from:)` throws.
  func decoded<Value: Decodable>(
    _ type: Value.Type, _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> Value {
    try CodableInput.lend(self, userInfo) { try $0.decode(type) }
  }
}

extension Field {
  /// A field whose type is `Codable` and is stored by way of it: see ``Coded``. Conditions on it
  /// are computed from the decoded document.
  public init<Value: Codable>(_ name: String, coding path: KeyPath<Owner, Value>) {
    self.path = path
    description = FieldDescription(name: name, kind: .any, defaultValue: nil)
    isLowered = false
  }

  /// A field whose type is `Codable` and is stored by way of it, and that is `default` in records
  /// which lack it.
  public init<Value: Codable & Sendable>(
    _ name: String, coding path: KeyPath<Owner, Value>, default value: Value
  ) {
    self.path = path
    description = FieldDescription(name: name, kind: .any, defaultValue: Coded(value))
    isLowered = false
  }
}
