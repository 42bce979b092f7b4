// What `@Document` writes. A macro sees the text of a type and not its meaning, so the compiler
// chooses each field's road: `Storable` where the type is, and otherwise the type's own `Codable`.
// The last overload of each takes every other type, to say what to do about it.

extension Field {
  /// A field that is stored natively where its type is ``Storable``, and by way of its `Codable`
  /// otherwise: what ``Document(as:)`` writes.
  @inlinable public init<Value: Storable>(stored name: String, _ path: KeyPath<Owner, Value>) {
    self.init(name, path)
  }

  /// Likewise, and `default` in records which lack it.
  @inlinable public init<Value: Storable & Sendable>(
    stored name: String, _ path: KeyPath<Owner, Value>, default value: @autoclosure () -> Value
  ) {
    self.init(name, path, default: value())
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the type of this property cannot be a field: declare it `Storable` if it is an enum with a \
      raw value, `@EmbeddedDocument` if it is a struct, or `Codable`; or mark the property \
      `@Transient`
      """
  )
  public init<Value>(
    stored name: String, _ path: KeyPath<Owner, Value>, default value: Value? = nil
  ) {
    fatalError("unavailable")
  }
}

extension Field {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the type of this property is not `Storable`, and a key or an indexed field has to be: declare \
      it `Storable` if it is an enum with a raw value, or `@EmbeddedDocument` if it is a struct. \
      Without an index any `Codable` will do: `Field(_:coding:)`
      """
  )
  public init<Value>(_ name: String, _ path: KeyPath<Owner, Value>, default value: Value? = nil) {
    fatalError("unavailable")
  }
}

extension Schema {
  /// A schema whose key's type is checked: what ``Document(as:)`` writes.
  public convenience init<Key: DocumentKey>(
    _ name: String, documentKey key: KeyPath<Owner, Key>, fields: [Field<Owner>]
  ) {
    self.init(name, key: key, fields: fields)
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the type of this property cannot be a key: a key is a `String`, an integer or a `UUID`, or an \
      enum or struct with such a raw value that is declared `Storable` and `DocumentKey`. Give the property such a \
      type, or mark another one with `@Key`
      """
  )
  public convenience init<Key>(
    _ name: String, documentKey key: KeyPath<Owner, Key>, fields: [Field<Owner>]
  ) {
    fatalError("unavailable")
  }
}

extension RecordWriter {
  /// Puts a value natively where it is ``Storable``, and by way of its `Codable` otherwise: what
  /// ``Document(as:)`` writes.
  @inlinable @inline(__always)
  public mutating func put<Value: Storable>(stored value: Value, at field: Int) {
    put(value, at: field)
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "its type is neither `Storable` nor `Codable`")
  public mutating func put<Value>(stored value: Value, at field: Int) {
    fatalError("unavailable")
  }
}

extension RecordReader {
  /// Gets a value natively where it is ``Storable``, and by way of its `Codable` otherwise: what
  /// ``Document(as:)`` writes.
  ///
  /// - Throws: What ``get(_:)`` and ``get(coding:as:userInfo:)`` throw.
  @inlinable @inline(__always)
  public func get<Value: Storable>(
    stored field: Int, as type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    try get(field)
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "its type is neither `Storable` nor `Codable`")
  public func get<Value>(
    stored field: Int, as type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    fatalError("unavailable")
  }
}
