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
