/// A place in an order: right behind one document, whether it is still there or not.
struct Position: Sendable, Equatable {
  let order: [SortKey]
  /// The document's sort values, one for each key of the order, as `Value.sortable` gives them.
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
      bytes.put(sortValue: value, of: sortKey.operand)
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
      + key.hexText
  }
}

extension [UInt8] {
  /// Two digits for each byte.
  var hexText: String {
    map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
  }
}

extension OrderedBytes {
  /// Appends what a document is sorted by where no index says it.
  mutating func put(sortValue value: Value, of operand: Operand) {
    guard operand.hasNumbersOfAllKinds, let number = value.orderedNumber else {
      return put(whole: value)
    }
    put(number.nearest)
    append(UInt8(number.rest >> 8))
    append(UInt8(number.rest & 0xFF))
  }
}

extension Operand {
  /// Whether it is a field of any kind, in which an integer may stand beside a double.
  fileprivate var hasNumbersOfAllKinds: Bool {
    if case .field(let path) = self { path.last?.kind.unwrapped == .any } else { false }
  }
}

extension Value {
  /// A number as the nearest double and what is missing to it, which together are in the order of the
  /// numbers whatever their kinds; nil for NaN and what is no number.
  fileprivate var orderedNumber: (nearest: Double, rest: UInt16)? {
    // Neighbouring doubles are at most 2048 apart where there are integers of 64 bits.
    func parts(_ value: Int128) -> (Double, UInt16) {
      let nearest = Double(value)
      return (nearest, UInt16(0x8000 + value - Int128(nearest)))
    }
    return switch self {
    case .integer(let value): parts(Int128(value))
    case .unsigned(let value): parts(Int128(value))
    case .double(let value): value.isNaN ? nil : (value, 0x8000)
    default: nil
    }
  }
}
