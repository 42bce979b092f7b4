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
      var bytes = IndexBytes(capacity: 64)
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
    _ putValues: (inout IndexBytes) throws(RecordError) -> Void
  ) throws(RecordError) -> Bool {
    if !position.order.isEmpty {
      var values = IndexBytes(capacity: bytes.count + 64)
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

// MARK: Plans

extension Plan.Source {
  /// The same without what comes before a position, as far as it can be left out.
  func behind(_ position: Position, _ order: Plan.Order) -> Plan.Source {
    let keys = KeyRange(lower: position.key + [0], upper: nil)
    switch (self, order) {
    case (.index(let access), .index(let order)): return .index(access.behind(position, order))
    case (.index(let access), .keys): return .index(access.behind(position, nil))
    case (.intersection(let first, let second), .keys):
      return .intersection(first.behind(position, nil), second.behind(position, nil))
    case (.everything, .keys): return .keyRange(keys)
    case (.keyRange(let range), .keys): return .keyRange(range.intersection(keys))
    default: return self
    }
  }
}

// MARK: Index entries

extension IndexAccess {
  /// This access without the entries that come before a position; unchanged where it cannot tell.
  ///
  /// - Parameter order: The order that its entries are read in; nil for that of the keys.
  func behind(_ position: Position, _ order: IndexOrder?) -> IndexAccess {
    guard ranges.count == 1, let prefix = fixedPrefix else { return self }
    var bound = prefix
    if let order {
      guard let values = values(of: position, order) else { return self }
      bound += values
    } else {
      guard position.order.isEmpty, isInKeyOrder else { return self }
      bound += position.key
    }
    let isWhole = bound.count <= CollectionIndex.maximumValueByteCount || order == nil
    bound = isWhole ? bound : Array(bound.prefix(CollectionIndex.maximumValueByteCount))
    if isWhole, let order, order.isWhole, !order.isReversed { bound += position.key }
    var access = self
    if order?.isReversed == true {
      // Entries that the order does not tell apart are read as one run.
      access.ranges[0] = ranges[0].intersection(
        KeyRange(lower: [], upper: KeyRange.successor(of: bound)))
    } else {
      access.ranges[0] = ranges[0].intersection(KeyRange(lower: bound, upper: nil))
    }
    return access
  }

  /// What all entries begin with; nil where that is not known.
  private var fixedPrefix: [UInt8]? {
    let lower = ranges[0].lower
    var count = 0
    for part in index.parts.prefix(fixedPartCount) {
      let more = lower.withUnsafeBytes {
        IndexBytes.count(
          of: UnsafeRawBufferPointer(rebasing: $0[count...]), mask: part.definition.mask)
      }
      guard let more else { return nil }
      count += more
    }
    return Array(lower[..<count])
  }

  /// The bytes of a position's values as they stand in entries behind the fixed parts.
  private func values(of position: Position, _ order: IndexOrder) -> [UInt8]? {
    let parts = index.definition.parts
    var place = fixedPartCount
    var bytes: [UInt8] = []
    for (key, value) in zip(position.order, position.parts) where place < order.partCount {
      guard case .field(let path) = key.operand else { return nil }
      if parts[..<fixedPartCount].contains(where: { !$0.isMultiple && $0.agrees(with: path) }) {
        continue
      }
      guard parts[place].agrees(with: path) else { return nil }
      bytes += key.isReversed == parts[place].isDescending ? value : value.map { ~$0 }
      place += 1
    }
    return bytes
  }
}
