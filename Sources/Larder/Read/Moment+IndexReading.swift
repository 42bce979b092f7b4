internal import LarderLMDB

extension Moment {
  /// The smallest or largest value of a field that is not nil and not NaN; nil where no index can
  /// tell, or has none in the range that was looked at.
  borrowing func extreme(
    of operand: Operand, isLargest: Bool, _ filter: FilterNode, _ binding: CollectionBinding
  ) throws -> Value? {
    guard case .field(let path) = operand, let kind = path.last?.kind,
      let bound = IndexScalar(kind).flatMap({ $0.bound(isLargest: isLargest) })
    else { return nil }
    var selection = Selection()
    selection.filter = .all([filter, .test(operand, bound)])
    selection.order = [SortKey(operand: operand, isReversed: isLargest)]
    let planner = Planner(selection, binding.collection)
    guard
      let access = try planner.settlingAccess(
        transaction, where: { $0.direction(for: selection.order) != nil }),
      let order = access.direction(for: selection.order)
    else { return nil }
    let values = Evaluation(reading: [operand], in: binding.collection)
    var entries = try transaction.cursor(in: access.index.database)
    guard let range = access.ranges.first, access.ranges.count == 1,
      try access.index.seek(firstOf: range, isReversed: order.isReversed, &entries)
    else { return nil }
    let count = try access.index.checkedValueByteCount(ofEntry: entries.key, entries.value)
    guard range.holds(entries.key, isReversed: order.isReversed) else { return nil }
    if !IndexEntry.isCut(entries.value) {
      let key = UnsafeRawBufferPointer(rebasing: entries.key[count...])
      let value = try transaction.withRecord(for: key, binding) { try values.value(0, $0) }
      guard let value else { throw access.index.missingDocument }
      return value
    }
    // The values that begin as this one does are told apart by their records.
    let plan = Plan(
      source: .index(access), order: .index(order), residual: .constant(true),
      filter: selection.filter, estimate: .init(count: 0, isExact: false))
    var found: Value?
    try Execution(plan, selection, binding).forEach(in: transaction) { key, record in
      found = try binding.reading(record, key: key) { try values.value(0, $0) }
      return false
    }
    return found
  }

  /// The different values of a field, ascending, with how many documents have each; nil where no
  /// index can tell.
  ///
  /// - Parameter isCounting: Where false the counts are 1, and entries with a value that is known
  ///   already are not looked at.
  borrowing func groups(
    of operand: Operand, isCounting: Bool, _ filter: FilterNode, _ binding: CollectionBinding
  ) throws -> [(value: Value, count: Int)]? {
    var selection = Selection()
    selection.filter = filter
    let planner = Planner(selection, binding.collection)
    guard let access = try planner.access(grouping: operand, transaction) else { return nil }
    let index = access.index
    let mask = index.parts[access.fixedPartCount].definition.mask
    let values = Evaluation(reading: [operand], in: binding.collection)
    var groups: [(bytes: [UInt8], value: Value, count: Int)] = []
    var entries = try transaction.cursor(in: index.database)
    var documents = try transaction.cursor(in: binding.collection.documents)
    let range = access.ranges[0]
    var hasOne = try range.lower.withUnsafeBytes { try index.seek(atOrAfter: $0, &entries) }
    while hasOne, range.isBefore(end: entries.key) {
      let count = try index.checkedValueByteCount(ofEntry: entries.key, entries.value)
      guard !IndexEntry.isCut(entries.value),
        let start = index.byteCount(of: access.fixedPartCount, entries.key),
        let end = index.byteCount(of: access.fixedPartCount + 1, entries.key),
        entries.key[start] ^ mask != IndexTag.unreadable
      else { return nil }
      let prefix = Array(entries.key[..<end])
      let key = UnsafeRawBufferPointer(rebasing: entries.key[count...])
      guard try documents.seek(key) else { throw index.missingDocument }
      let value = try binding.reading(documents.value, key: key) { try values.value(0, $0) }
      groups.append((prefix[start...].map { $0 ^ mask }, value, 1))
      if isCounting {
        hasOne = try entries.next()
        while hasOne, range.isBefore(end: entries.key), entries.key.starts(with: prefix) {
          try index.check(entries)
          if IndexEntry.isCut(entries.value) { return nil }
          groups[groups.count - 1].count += 1
          hasOne = try entries.next()
        }
      } else if let next = KeyRange.successor(of: prefix) {
        hasOne = try next.withUnsafeBytes { try index.seek(atOrAfter: $0, &entries) }
      } else {
        hasOne = false
      }
    }
    if hasOne { try index.check(entries) }
    groups.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    return groups.map { ($0.value, $0.count) }
  }

  /// The keys of what a selection selects, in its order: from an index alone where one can tell.
  borrowing func keys(
    of selection: Selection, _ binding: CollectionBinding
  ) throws -> [UnsafeRawBufferPointer] {
    let maximum = selection.maximum ?? .max
    if maximum == 0 { return [] }
    if selection.order.isEmpty, let keys = try keysByIndex(selection.filter, binding) {
      return Array(keys.dropFirst(selection.skipped).prefix(maximum))
    }
    var keys: [UnsafeRawBufferPointer] = []
    var skipped = 0
    let wanted = maximum.addingReportingOverflow(selection.skipped)
    try transaction.execution(of: selection, binding).forEach(
      in: transaction, wanted: wanted.overflow ? .max : wanted.partialValue
    ) { key, _ in
      if skipped < selection.skipped {
        skipped += 1
        return true
      }
      keys.append(key)
      return keys.count < maximum
    }
    return keys
  }

  /// Nil where no index can tell.
  borrowing func keysByIndex(
    _ filter: FilterNode, _ binding: CollectionBinding
  ) throws -> [UnsafeRawBufferPointer]? {
    var selection = Selection()
    selection.filter = filter
    let planner = Planner(selection, binding.collection)
    // The documents themselves lie in the order of the keys.
    guard filter != .constant(true), let access = try planner.countingAccess(transaction)
    else { return nil }
    var keys: [UnsafeRawBufferPointer] = []
    let execution = Execution(
      planner.plan(settledBy: access), selection, binding, lendsKeys: true)
    try execution.forEach(in: transaction) { key, _ in
      keys.append(key)
      return true
    }
    return keys
  }
}
