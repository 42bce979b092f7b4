extension Value {
  /// The value of a scalar, or of an array, a set or a dictionary of these.
  init(storing value: some Storable) {
    switch value {
    case let value as String: self = .string(value)
    case let value as Int: self = .integer(Int64(value))
    case let value as Double: self = .double(value)
    case let value as Bool: self = .bool(value)
    default: self = Value(encoding: value)
    }
  }

  private init(encoding value: some Storable) {
    precondition(
      !type(of: value)._kind.holdsDocuments,
      "\(type(of: value)) holds embedded documents, which are not compared: compare their fields")
    var writer = RecordWriter(binding: .none, capacity: 64)
    value._store(into: &writer)
    self = writer.withBytes { bytes in
      guard let start = bytes.baseAddress else { return .null }
      var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
      do {
        return try reader.value()
      } catch {
        preconditionFailure("\(type(of: value)) wrote bytes that cannot be read: \(error)")
      }
    }
  }
}
