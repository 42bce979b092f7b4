/// A place in an order: right behind one document, whether it is still there or not.
struct Position: Sendable, Equatable {
  let order: [SortKey]
  /// What the document is sorted by, key for key.
  let values: [Value]
  let key: [UInt8]
  /// For each of the order's keys the value's bytes, in the direction of the order.
  let parts: [[UInt8]]

  init(order: [SortKey], values: [Value], key: [UInt8]) {
    self.order = order
    self.values = values
    self.key = key
    parts = zip(order, values).map { sortKey, value in
      var bytes = OrderedBytes(capacity: 64)
      bytes.put(whole: value.sortable)
      if sortKey.isReversed { bytes.complement(from: 0) }
      return [UInt8](bytes.bytes)
    }
  }

  static func == (left: Position, right: Position) -> Bool {
    left.order == right.order && left.parts == right.parts && left.key == right.key
  }
}

/// A position made ready for one collection.
struct PositionTest {
  private let position: Position
  private let bytes: [UInt8]

  init(_ position: Position) {
    self.position = position
    bytes = Array(position.parts.joined())
  }

  var order: [SortKey] { position.order }

  /// Whether a document comes behind the position.
  ///
  /// - Parameter putValues: Appends what the document is sorted by.
  func isBehind(
    _ key: UnsafeRawBufferPointer,
    _ putValues: (inout OrderedBytes) throws(RecordError) -> Void
  ) throws(RecordError) -> Bool {
    if !position.order.isEmpty {
      var values = OrderedBytes(capacity: bytes.count + 64)
      try putValues(&values)
      let order = bytes.withUnsafeBytes { Bytes.compare(values.bytes, $0) }
      if order != 0 { return order > 0 }
    }
    return position.key.withUnsafeBytes { Bytes.compare(key, $0) > 0 }
  }
}

extension FilterNode {
  /// The place that documents have to come behind, and the rest of the condition.
  var splitAtPosition: (Position?, FilterNode) {
    switch self {
    case .behind(let position): return (position, .constant(true))
    case .conjunction(let parts):
      for (place, part) in parts.enumerated() {
        guard case .behind(let position) = part else { continue }
        var rest = parts
        rest.remove(at: place)
        return (position, .all(rest))
      }
      return (nil, self)
    default: return (nil, self)
    }
  }
}

extension Position: CustomStringConvertible {
  var description: String {
    values.map(\.description).joined(separator: ", ") + (values.isEmpty ? "key " : ", key ")
      + key.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
  }
}
