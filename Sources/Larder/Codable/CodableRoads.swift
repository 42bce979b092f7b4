// The roads of fields that are stored by way of their `Codable`: the compiler takes them where a type is
// not `Storable`. See `FieldRoads.swift`.

extension Field {
  /// A field of a type that is stored by its own `Codable` conformance. Macros write this.
  @_disfavoredOverload
  @inlinable public init<Value: Codable>(stored name: String, _ path: KeyPath<Owner, Value>) {
    self.init(name, coding: path)
  }

  /// Such a field with a default for records that lack it. Macros write this.
  @_disfavoredOverload
  @inlinable public init<Value: Codable & Sendable>(
    stored name: String, _ path: KeyPath<Owner, Value>, default value: Value
  ) {
    self.init(name, coding: path, default: value)
  }
}

extension RecordWriter {
  /// Puts the value of a `Codable` field. Macros write this.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public mutating func put<Value: Codable>(stored value: Value, at field: Int) {
    put(coding: value, at: field)
  }
}

extension RecordReader {
  /// The same for a field that is kept by way of its `Codable`.
  ///
  /// - Throws: What ``get(coding:as:userInfo:)`` throws.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public func get<Value: Codable>(
    stored field: Int, as type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    try get(coding: field)
  }
}
