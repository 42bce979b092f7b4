internal import LarderLMDB

/// Chooses a plan by counting: entries in the ranges that conditions leave are looked at, a few
/// at a time in all candidates side by side, until the smallest has come to its end. So the
/// choice rests on the data as it is, costs little beside the query itself, and keeps no
/// statistics that could be out of date.
struct Planner {
  /// Its order ends in front of that of the keys: documents that are equal until there lie in it.
  let selection: Selection
  /// The order as it was asked for, which cursors are made with.
  private let givenOrder: [SortKey]
  let collection: Collection
  /// What holds together.
  let conditions: [FilterNode]
  /// The result of a search that was made in this transaction already.
  let finding: SearchFinding?
  private let usesSearchIndexes: Bool
  /// Whether to go along an index for its order alone.
  private let usesOrder: Bool

  // What things cost beside each other, in nanoseconds. From the benchmark: a record that is
  // looked at in passing, one that is fetched by its key, an entry that is passed, one document
  // that is sorted.
  private static let scanCost = 40.0
  static let fetchCost = 350.0
  static let sortCost = 400.0
  /// Entries that are counted in each candidate before any other is looked at again.
  private static let firstCount = 64
  /// Keys in a range that are counted at most.
  private static let largestKeyCount = 1024

  init(
    _ selection: Selection, _ collection: Collection, finding: SearchFinding? = nil,
    usesSearchIndexes: Bool = true, usesOrder: Bool = true
  ) {
    self.finding = finding
    self.usesOrder = usesOrder
    self.usesSearchIndexes = usesSearchIndexes
    givenOrder = selection.order
    var selection = selection
    // No two documents have the same key, so that nothing behind it matters.
    if let end = givenOrder.firstIndex(where: { $0.isOrder(ofKeysIn: collection) }) {
      selection.order = Array(givenOrder[..<end])
    }
    self.selection = selection
    self.collection = collection
    conditions =
      switch selection.filter {
      case .conjunction(let parts): parts.map(\.listed)
      case .constant(true): []
      case let filter: [filter.listed]
      }
  }

  func plan(_ transaction: borrowing LentTransaction) throws -> Plan {
    let plan = try planByValues(transaction)
    if !usesSearchIndexes { return plan }
    return try planBySearch(insteadOf: plan, transaction) ?? plan
  }

  private func planByValues(_ transaction: borrowing LentTransaction) throws -> Plan {
    if selection.maximum == 0 { return nothing }
    for case .constant(false) in conditions { return nothing }
    if let plan = keyPlan(mostKeys: Self.fewKeys) { return plan }
    let whole = try transaction.statistics(of: collection.documents).entryCount
    let (plan, entryCount) = try planByIndexes(of: whole, transaction)
    // Where there are more keys, looking at each document costs less.
    guard let keyed = keyPlan(mostKeys: max(Self.shortListCount, whole / 2)) else { return plan }
    return entryCount ?? .max < keyed.estimate.count ? plan : keyed
  }

  /// So many documents are fetched by their keys whatever else could be done.
  private static let fewKeys = 16

  /// The cheapest plan that does not go by keys: along indexes, or a scan.
  ///
  /// - Returns: Also how many documents the indexes of the plan name; nil where nobody has counted them.
  private func planByIndexes(
    of whole: Int, _ transaction: borrowing LentTransaction
  ) throws -> (plan: Plan, entryCount: Int?) {
    let usable = try usableAccesses(transaction)
    if usable.contains(where: { $0.ranges.isEmpty }) { return (nothing, 0) }
    let (range, count) = try keyRange(of: whole, transaction)
    if range?.isEmpty == true { return (nothing, 0) }
    let unions = try conditions.indices.compactMap { place in try union(at: place, transaction) }
    if usable.isEmpty, unions.isEmpty { return (scan(count), nil) }

    let counted = try smallest(usable, unions, of: count, transaction)
    var best: (plan: Plan, entryCount: Int?)?
    var leastCost = scanCost(count, matching: counted.map(matching) ?? count)
    if let counted {
      let plan = try narrowed(counted, usable, transaction)
      let cost = cost(of: plan, counted.count)
      if cost < leastCost { (best, leastCost) = ((plan, counted.count), cost) }
    } else if let access = accessOfFirst(usable, of: count) {
      return (plan(.index(access), .keys, access.settled, count, isExact: false), nil)
    }
    if !selection.order.isEmpty, usesOrder {
      for access in usable {
        guard let order = access.direction(for: selection.order) else { continue }
        let cost = orderedCost(access, counted, of: count)
        if cost < leastCost {
          var plan = plan(.index(access), .index(order), access.settled, count, isExact: false)
          // To sort what this way finds in order would cost more.
          if counted?.access?.index !== access.index {
            plan.retreat = retreat(from: access, counted, of: count)
          }
          (best, leastCost) = ((plan, nil), cost)
        }
      }
    }
    return best ?? (scan(count), nil)
  }

  /// How many documents are taken to match, of those that an index names.
  private func matching(_ counted: Counted) -> Int {
    let isKnown =
      counted.access.map { $0.settled.count >= askedCount } ?? (conditions.count == 1)
    return isKnown ? counted.count : max(1, Int(Double(counted.count) / Self.unknownShare))
  }

  /// The ways along an index that may be worth going.
  private func usableAccesses(_ transaction: borrowing LentTransaction) throws -> [IndexAccess] {
    var usable: [IndexAccess] = []
    let listLimit = try listLimit(transaction)
    for index in collection.indexes {
      guard let access = IndexAccess(index, conditions, listLimit: listLimit) else { continue }
      if index.hasUnsettledDefaults {
        // Others are not worth a look at the index, which may be damaged.
        guard access.isNarrowed || access.direction(for: selection.order) != nil,
          try transaction.knowsAllDocuments(index)
        else { continue }
      }
      usable.append(access)
    }
    return usable
  }

  /// How long a list may be whose values are looked for one by one: where it has a fourth as many as there are
  /// documents, looking at these costs less.
  private func listLimit(_ transaction: borrowing LentTransaction) throws -> Int {
    let hasLongList = conditions.contains { condition in
      if case .test(_, .isAny(let values)) = condition {
        values.count > Self.shortListCount
      } else {
        false
      }
    }
    guard hasLongList else { return PartRanges.maximumCount }
    let count = try transaction.statistics(of: collection.documents).entryCount
    return min(PartRanges.maximumCount, max(Self.shortListCount, count / 4))
  }

  private static let shortListCount = 256

  /// The ranges that answer with a look at few documents or none, or else nil.
  func countingAccess(_ transaction: borrowing LentTransaction) throws -> IndexAccess? {
    var (second, third): (IndexAccess?, IndexAccess?)
    let listLimit = try listLimit(transaction)
    for index in collection.indexes {
      // An index of elements lacks documents without any, unless one is asked for.
      guard let access = IndexAccess(index, conditions, listLimit: listLimit),
        access.settled.count == conditions.count, access.isNarrowed || !index.hasElements,
        try transaction.knowsAllDocuments(index)
      else { continue }
      if access.findsEachOnce, access.settlesAll { return access }
      if access.findsEachOnce { second = second ?? access }
      third = third ?? access
    }
    return second ?? third
  }

  /// A way to have an index find just the documents that match, each once, that passes a test.
  func settlingAccess(
    _ transaction: borrowing LentTransaction, where isWanted: (IndexAccess) -> Bool
  ) throws -> IndexAccess? {
    for index in collection.indexes {
      guard let access = IndexAccess(index, conditions), access.settled.count == conditions.count,
        access.findsEachOnce, access.settlesAll, isWanted(access),
        try transaction.knowsAllDocuments(index)
      else { continue }
      return access
    }
    return nil
  }

  /// A plan that goes by an index which knows all conditions.
  func plan(settledBy access: IndexAccess) -> Plan {
    plan(.index(access), .keys, access.settled, 0, isExact: false)
  }

  /// The place in the selection's order that documents have to come behind.
  private var position: Position? {
    for case .behind(let position) in conditions where position.order == givenOrder {
      return Position(
        order: selection.order, values: Array(position.values.prefix(selection.order.count)),
        key: position.key)
    }
    return nil
  }

  // MARK: Costs

  private func scanCost(_ count: Int, matching: Int) -> Double {
    let sorting = selection.order.isEmpty ? 0 : Double(min(matching, count)) * Self.sortCost
    guard selection.order.isEmpty, let wanted, matching > 0 else {
      return Double(count) * Self.scanCost + sorting
    }
    // It ends with the last one that is wanted; these lie anywhere.
    return Double(count) * min(1, Double(wanted) / Double(matching)) * Self.scanCost
  }

  private func cost(of plan: Plan, _ count: Int) -> Double {
    if case .sort = plan.order { return Double(count) * (Self.fetchCost + Self.sortCost) }
    guard let wanted, case .index(let access) = plan.source, access.isInKeyOrder else {
      return Double(count) * Self.fetchCost
    }
    // It ends with the last one that is wanted.
    let unknown = access.settled.count < askedCount ? Self.unknownShare : 1
    return min(Double(count), unknown * Double(wanted)) * Self.fetchCost
  }

  /// An index that knows all conditions, where only the first documents in the order of their keys are wanted and nobody
  /// has counted how many match: a scan may pass nearly all documents before it meets one.
  private func accessOfFirst(_ usable: [IndexAccess], of count: Int) -> IndexAccess? {
    guard selection.order.isEmpty, let wanted,
      4 * Double(wanted) * Self.fetchCost < Double(count) * Self.scanCost
    else { return nil }
    return usable.first {
      $0.isNarrowed && $0.isInKeyOrder && $0.settled.count >= askedCount
    }
  }

  /// Of conditions that no index knows, one document in so many is taken to fulfil them.
  private static let unknownShare = 10.0

  /// Nil where all conditions are known to the index, or few documents are there.
  private func retreat(
    from access: IndexAccess, _ counted: Counted?, of count: Int
  ) -> Plan.Retreat? {
    guard access.settled.count < askedCount else { return nil }
    // A document that is asked for more than a number costs about two that are not.
    return Plan.Retreat(
      entryCount: count,
      cost: counted.map { Double($0.count) * Self.fetchCost } ?? Double(count) * 2 * Self.scanCost,
      usesSearchIndexes: usesSearchIndexes)
  }

  /// Conditions, but for the place that a page begins behind: the way along an index begins there.
  private var askedCount: Int { conditions.count - (position == nil ? 0 : 1) }

  private func orderedCost(_ access: IndexAccess, _ counted: Counted?, of count: Int) -> Double {
    let isSmallest = counted?.access?.index === access.index
    let entries = isSmallest ? counted?.count ?? count : count
    let matching = min(counted?.count ?? count, entries)
    guard let wanted, matching > 0 else { return Double(entries) * Self.fetchCost }
    let unknown =
      counted == nil && access.settled.count < askedCount ? Self.unknownShare : 1
    return min(Double(entries), unknown * Double(wanted) * Double(entries) / Double(matching))
      * Self.fetchCost
  }

  /// How many documents have to be found before the rest does not matter; nil for all.
  var wanted: Int? {
    selection.maximum.map { $0.addingReportingOverflow(selection.skipped) }
      .flatMap { $0.overflow ? nil : $0.partialValue }
  }

  // MARK: Plans

  private var nothing: Plan {
    Plan(
      source: .nothing, order: .keys, residual: .constant(true), filter: selection.filter,
      estimate: .init(count: 0, isExact: true))
  }

  func scan(_ count: Int) -> Plan {
    let order = selection.order.isEmpty ? Plan.Order.keys : .sort
    guard let (range, settled) = keyConditions else {
      return plan(.everything, order, ConditionPlaces(), count, isExact: true)
    }
    return plan(.keyRange(range), order, settled, count, isExact: false)
  }

  func plan(
    _ source: Plan.Source, _ order: Plan.Order, _ settled: ConditionPlaces, _ count: Int,
    isExact: Bool
  ) -> Plan {
    Plan(
      source: position.map { source.behind($0, order) } ?? source, order: order,
      residual: settled.count == conditions.count
        ? .constant(true)
        : .all(conditions.indices.lazy.filter { !settled.contains($0) }.map { conditions[$0] }),
      filter: selection.filter, estimate: .init(count: count, isExact: isExact))
  }

  private func narrowed(
    _ counted: Counted, _ usable: [IndexAccess],
    _ transaction: borrowing LentTransaction
  ) throws -> Plan {
    guard let access = counted.access else {
      return plan(
        .union(counted.union), selection.order.isEmpty ? .keys : .sort, ConditionPlaces(),
        counted.count,
        isExact: true)
    }
    if let order = access.direction(for: selection.order) {
      return plan(.index(access), .index(order), access.settled, counted.count, isExact: true)
    }
    let order = selection.order.isEmpty ? Plan.Order.keys : .sort
    if let other = try partner(of: access, count: counted.count, usable, transaction) {
      return plan(
        .intersection(access, other), order, access.settled.union(other.settled), counted.count,
        isExact: false)
    }
    return plan(.index(access), order, access.settled, counted.count, isExact: true)
  }

  /// Another index whose entries, beside those of `access`, leave much fewer documents to fetch
  /// for the price of passing them.
  private func partner(
    of access: IndexAccess, count: Int, _ usable: [IndexAccess],
    _ transaction: borrowing LentTransaction
  ) throws -> IndexAccess? {
    guard count >= 4 * Self.firstCount, access.isInKeyOrder else { return nil }
    let others = usable.filter {
      $0.index !== access.index && $0.isInKeyOrder && $0.isNarrowed
        && !$0.settled.isSubset(of: access.settled)
    }
    for other in others {
      // Passing an entry costs about a twentieth of fetching a document.
      let limit = 6 * count
      if try transaction.countEntries(other, upTo: limit) < limit { return other }
    }
    return nil
  }

  // MARK: Keys

  /// A plan from conditions on the key alone; of several the one with the fewest keys, and none with more than so many.
  func keyPlan(mostKeys: Int = .max) -> Plan? {
    for (place, condition) in conditions.enumerated() {
      if case .key(let key) = condition { return plan(forKeys: [key], settling: place) }
    }
    guard let name = collection.description.keyField else { return nil }
    var fewest: (values: [Value], place: Int)?
    for (place, condition) in conditions.enumerated() {
      guard case .test(.field(let path), let comparison) = condition.listed, path.count == 1,
        path[0].name == name
      else { continue }
      let values: [Value]
      switch comparison {
      case .compare(.equal, let value): values = [value]
      case .isAny(let all): values = all
      default: continue
      }
      if values.count < fewest?.values.count ?? .max { fewest = (values, place) }
    }
    guard let fewest, fewest.values.count <= mostKeys else { return nil }
    var keys: [[UInt8]] = []
    for value in fewest.values where value != .null {
      guard let key = value.encodedKey(of: collection.keyKind) else { return nil }
      keys.append(key)
    }
    let sorted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    return plan(forKeys: sorted, settling: fewest.place)
  }

  private func plan(forKeys keys: [[UInt8]], settling place: Int) -> Plan {
    plan(
      .keys(keys), selection.order.isEmpty ? .keys : .sort, ConditionPlaces(place), keys.count,
      isExact: false)
  }

  /// Where conditions leave the keys; nil where there are none.
  private var keyConditions: (KeyRange, ConditionPlaces)? {
    guard let name = collection.description.keyField else { return nil }
    var range = KeyRange.everything
    var settled = ConditionPlaces()
    for (place, condition) in conditions.enumerated() {
      guard case .test(.field(let path), let comparison) = condition, path.count == 1,
        path[0].name == name,
        let found = KeyRange(comparison, keysOf: collection.keyKind)
      else { continue }
      range = range.intersection(found)
      settled.insert(place)
    }
    return settled.isEmpty ? nil : (range, settled)
  }

  /// The range that conditions leave of the keys, and how many documents lie in it, as far as it
  /// was worth counting.
  private func keyRange(
    of whole: Int, _ transaction: borrowing LentTransaction
  ) throws -> (KeyRange?, Int) {
    guard let (range, _) = keyConditions else { return (nil, whole) }
    if range.isEmpty { return (range, 0) }
    var cursor = try transaction.cursor(in: collection.documents)
    var count = 0
    var hasOne = try range.lower.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while hasOne, range.isBefore(end: cursor.key) {
      count += 1
      if count == Self.largestKeyCount { return (range, whole) }
      hasOne = try cursor.next()
    }
    return (range, count)
  }

  // MARK: Unions

  /// For a disjunction, an index for each of its parts; nil where one part has none.
  func union(at place: Int, _ transaction: borrowing LentTransaction) throws -> [IndexAccess]? {
    guard case .disjunction(let parts) = conditions[place] else { return nil }
    let others = conditions.indices.filter { $0 != place }.map { conditions[$0] }
    var accesses: [IndexAccess] = []
    for part in parts {
      let together: [FilterNode] = if case .conjunction(let inner) = part { inner } else { [part] }
      var found: [IndexAccess] = []
      for index in collection.indexes {
        guard let access = IndexAccess(index, together + others), access.isNarrowed,
          try transaction.knowsAllDocuments(index)
        else { continue }
        found.append(access)
      }
      // The one with the most values given is taken to be the smallest.
      guard let access = found.max(by: { $0.settled.count < $1.settled.count }) else { return nil }
      if !access.ranges.isEmpty { accesses.append(access) }
    }
    return accesses
  }

  // MARK: Counting

  private struct Counted {
    let access: IndexAccess?
    let union: [IndexAccess]
    let count: Int
  }

  /// The number of entries from which on another way is better: reading from end to end or, where
  /// an index has the order and only the first ones are wanted, going along it.
  private func enoughToCount(_ usable: [IndexAccess], of total: Int) -> Int {
    guard let wanted, !selection.order.isEmpty,
      usable.contains(where: { $0.direction(for: selection.order) != nil })
    else { return total / 8 }
    // Where wanted x total / entries, the way along the index, meets entries, the way by sorting.
    return min(total / 8, Int((Double(wanted) * Double(total)).squareRoot()))
  }

  /// The candidate with the fewest entries, counted; nil where each has so many that reading the
  /// collection from end to end is better.
  private func smallest(
    _ usable: [IndexAccess], _ unions: [[IndexAccess]], of total: Int,
    _ transaction: borrowing LentTransaction
  ) throws -> Counted? {
    // Of those with equally many entries the first is taken: rather one that has the order, too.
    var narrowed = usable.filter { $0.isNarrowed }
    let ordered = narrowed.filter { $0.direction(for: selection.order) != nil }
    if !ordered.isEmpty {
      narrowed = ordered + narrowed.filter { $0.direction(for: selection.order) == nil }
    }
    let candidates =
      narrowed.map { Counted(access: $0, union: [$0], count: 0) }
      + unions.map { Counted(access: nil, union: $0, count: 0) }
    if candidates.isEmpty { return nil }
    let enough = enoughToCount(usable, of: total)
    // With one candidate there is nobody to take turns with.
    var limit = candidates.count == 1 ? max(Self.firstCount, enough + 1) : Self.firstCount
    while true {
      var best: Counted?
      for candidate in candidates {
        let count = try candidate.union.reduce(0) { sum, access in
          try sum + (sum >= limit ? 0 : transaction.countEntries(access, upTo: limit - sum))
        }
        guard count < limit, count < best?.count ?? .max else { continue }
        best = Counted(access: candidate.access, union: candidate.union, count: count)
      }
      if let best { return best }
      if limit > enough { return nil }
      limit *= 4
    }
  }
}

extension SortKey {
  /// Whether documents lie in this order: that of their keys, ascending.
  fileprivate func isOrder(ofKeysIn collection: Collection) -> Bool {
    guard !isReversed, case .field(let path) = operand, path.count == 1,
      path[0].name == collection.description.keyField
    else { return false }
    // Another kind, such as an optional, may be a question that the stored values have no answer to.
    return switch (path[0].kind, collection.keyKind) {
    case (.string, .string), (.integer, .integer), (.integer, .unsigned), (.uuid, .uuid): true
    default: false
    }
  }
}

extension LentTransaction {
  /// How many entries lie in the ranges, counted up to a limit.
  borrowing func countEntries(_ access: IndexAccess, upTo limit: Int = .max) throws -> Int {
    if access.ranges == [.everything] {
      return min(limit, try statistics(of: access.index.database).entryCount)
    }
    var cursor = try cursor(in: access.index.database)
    var counter = EntryCounter(limit: limit)
    for range in access.ranges { try counter.count(range, &cursor) }
    return counter.count
  }
}

/// Counts entries of an index, as they are: to choose a plan by.
private struct EntryCounter {
  let limit: Int
  var count = 0

  init(limit: Int) { self.limit = limit }

  mutating func count(_ range: KeyRange, _ cursor: inout Cursor) throws {
    if count >= limit { return }
    var count = count
    try cursor.forEach(in: range) { _, _ in
      count += 1
      return count < limit
    }
    self.count = count
  }
}

extension KeyRange {
  /// Whether a key that is not below the range lies in it.
  @inline(__always)
  func isBefore(end key: UnsafeRawBufferPointer) -> Bool {
    guard let upper else { return true }
    return upper.withUnsafeBytes { Bytes.compare(key, $0) < 0 }
  }
}

extension Cursor {
  /// Goes along the records of a range, until `body` says false; the cursor then stands somewhere
  /// on the way.
  ///
  /// - Returns: Whether it came to the end.
  @inline(__always) @discardableResult
  mutating func forEach(
    in range: KeyRange,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    guard try range.lower.withUnsafeBytes({ try seek(atOrAfter: $0) }) else { return true }
    guard let upper = range.upper else { return try forEachOnward(before: nil, body) }
    return try upper.withUnsafeBytes { try forEachOnward(before: $0, body) }
  }

  /// The same for those records alone whose value passes a test.
  @inline(__always)
  mutating func forEach(
    in range: KeyRange, passing test: some ValueTest,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    guard try range.lower.withUnsafeBytes({ try seek(atOrAfter: $0) }) else { return }
    guard let upper = range.upper else {
      _ = try forEachOnward(before: nil, passing: test, body)
      return
    }
    _ = try upper.withUnsafeBytes { try forEachOnward(before: $0, passing: test, body) }
  }
}
