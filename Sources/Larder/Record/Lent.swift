/// A value in the place where it is, which is lent.
///
/// It cannot be copied. Of a value that can, as `pointee` is, the compiler makes a copy before each
/// call, which retains each string in it. Measured with the contact of the benchmark: 357 of 1,945
/// instructions of encoding.
@frozen @usableFromInline struct Lent<Value>: ~Copyable {
  @usableFromInline let value: Value
}

// Methods of its own, which borrow it: a call on `value` itself would copy that.
extension Lent where Value: Document {
  @inlinable @inline(__always) borrowing func encode(into writer: inout RecordWriter) {
    value.encode(into: &writer)
  }
}

extension Lent where Value: Storable {
  @inlinable @inline(__always) borrowing func _store(into writer: inout RecordWriter) {
    value._store(into: &writer)
  }
}

extension UnsafeBufferPointer {
  /// Lends an element where it stands. By a pointer: borrowed by the closure itself, it was copied.
  @inlinable @inline(__always) func lend<Result>(
    at place: Int, _ body: (UnsafePointer<Lent<Element>>) throws -> Result
  ) rethrows -> Result {
    guard let first = baseAddress else { preconditionFailure("there is no element to lend") }
    return try (first + place).withMemoryRebound(to: Lent<Element>.self, capacity: 1, body)
  }
}

/// Models, and what their mapper makes of them.
extension Lent where Value: Sendable {
  @inlinable @inline(__always)
  borrowing func key<Mapper: EntityMapper>(by mapper: Mapper) -> Mapper.Entity.Key
  where Mapper.Model == Value { mapper.entityAccessorKey(value) }

  @inlinable @inline(__always)
  borrowing func newEntity<Mapper: EntityMapper>(
    by mapper: Mapper, under key: Mapper.Entity.Key, as origin: ChangeOrigin
  ) throws -> Mapper.Entity where Mapper.Model == Value {
    try mapper.newEntity(for: value, under: key, as: origin)
  }

  @inlinable @inline(__always)
  borrowing func update<Mapper: EntityMapper>(
    _ stored: inout Mapper.Entity, by mapper: Mapper, under key: Mapper.Entity.Key,
    onConflict policy: ConflictPolicy<Value>, as origin: ChangeOrigin
  ) throws where Mapper.Model == Value {
    try mapper.update(&stored, by: value, under: key, onConflict: policy, as: origin)
  }
}
