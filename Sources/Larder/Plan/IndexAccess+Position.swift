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
      // Those that the order does not tell apart are one run, which is read from its start.
      if isWhole, order?.isWhole == true { access.pageStart = bound + position.key }
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
        OrderedBytes.count(
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
