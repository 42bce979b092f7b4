internal import LarderLMDB

// Plans are carried out here, for snapshots and write scopes alike. Keys and records are lent as
// they lie in the store; they stay where they are for as long as the transaction writes nothing.

/// A prepared query of one collection: a plan, and the conditions as they are asked of records.
struct Execution {
  let plan: Plan
  let binding: CollectionBinding
  /// The query that it answers; a rank in its order has statistics.
  let selection: Selection
  /// What is asked of each document that the plan's source gives.
  let residual: Evaluation
  /// Whether there is anything to ask of them.
  private let asksNothing: Bool
  /// Whether documents that index entries settle are lent by their keys alone, with an empty record.
  private let lendsKeys: Bool
  /// What is asked of a document whose values were cut in the index, and what sorts.
  private let whole: Whole
  /// Counts what is looked at, for those who want to know.
  let tally: Tally?

  /// The filter and the order as they are, made ready when they are first asked for.
  private final class Whole {
    private let filter: FilterNode
    private let order: [SortKey]
    private let collection: Collection
    private let passesUnreadable: Bool
    private(set) lazy var evaluation = Evaluation(
      filter, order: order, in: collection, passesUnreadable: passesUnreadable)

    init(
      _ filter: FilterNode, _ order: [SortKey], _ collection: Collection, passesUnreadable: Bool
    ) {
      self.passesUnreadable = passesUnreadable
      self.filter = filter
      self.order = order
      self.collection = collection
    }
  }

  final class Tally {
    /// Entries that were read along an index in its order.
    var entries = 0
    var examined = 0
    var matched = 0
    /// How many documents were looked at before ``plan`` took the place of the first plan.
    private(set) var abandoned = 0
    /// The plan that took the place of the first one; nil where none did.
    private(set) var plan: Plan?

    /// Another plan begins from the beginning.
    func replacePlan(by other: Plan) {
      abandoned += examined
      (plan, examined, matched) = (other, 0, 0)
    }
  }

  init(
    _ plan: Plan, _ selection: Selection, _ binding: CollectionBinding, tally: Tally? = nil,
    lendsKeys: Bool = false
  ) {
    self.selection = selection
    self.lendsKeys = lendsKeys && selection.order.isEmpty
    self.plan = plan
    self.tally = tally
    self.binding = binding
    if case .constant(true) = plan.residual {
      asksNothing = tally == nil
      residual = .everything
    } else {
      asksNothing = false
      residual = Evaluation(
        plan.residual, in: binding.collection, passesUnreadable: selection.unreadable != nil)
    }
    whole = Whole(
      plan.filter, selection.order, binding.collection,
      passesUnreadable: selection.unreadable != nil)
  }

  typealias Key = UnsafeRawBufferPointer
  typealias Record = UnsafeRawBufferPointer
  typealias Body = (_ key: Key, _ record: Record) throws -> Bool

  /// What documents are lent to. Kept in a value and not as a plain closure: the optimizer would
  /// otherwise compile every way to the documents anew for each caller.
  struct Taker {
    let take: (_ key: Key, _ record: Record) throws -> Bool
  }

  /// Lends the documents that match, in the selection's order, whatever its offset and limit,
  /// until `body` says false.
  func forEach(
    in transaction: borrowing some Transaction & ~Copyable, wanted: Int = .max, _ body: Body
  ) throws {
    try withoutActuallyEscaping(body) { body in
      try forEach(in: LentTransaction(transaction), wanted: wanted, Taker(take: body))
    }
  }

  private func forEach(
    in transaction: borrowing LentTransaction, wanted: Int, _ taker: Taker
  ) throws {
    guard case .sort = plan.order else {
      guard case .index(let order) = plan.order, let retreat = plan.retreat,
        case .index(let access) = plan.source
      else { return try forEachUnsorted(in: transaction, taker) }
      return try forEachInOrder(access, order, retreat, wanted, transaction, taker)
    }
    if wanted == 0 { return }
    let rows =
      try firstInParts(transaction, wanted: wanted) ?? sortedRows(transaction, wanted: wanted)
    for row in rows.sorted() {
      guard try taker.take(row.key, row.record) else { return }
    }
  }

  /// The first documents in an order that no index has.
  ///
  /// - Parameter part: The keys that are looked at; nil for all that the plan's source gives. Of a part, documents
  ///   are not verified: that they are among the first of all is not known yet.
  func sortedRows(
    _ transaction: borrowing LentTransaction, wanted: Int, part: KeyRange? = nil
  ) throws -> SortedRows {
    let filter = whole.evaluation
    // Whoever skips what cannot be read finds it among the sorted ones.
    let verifies = part == nil && !selection.skipsUnreadable
    let gate = wanted < .max ? filter.sortGate(binding) : nil
    var rows = SortedRows(limit: wanted, gate: gate)
    if let gate, let range = part ?? plan.source.scannedKeys, residual.matchesAll, tally == nil {
      var cursor = try transaction.cursor(in: binding.collection.documents)
      try cursor.forEach(in: range, passing: gate.sieve) { key, record in
        try add(key, record, to: &rows, filter, verifies: verifies)
        return true
      }
    } else if let sieve = gate?.sieve {
      try forEachUnsorted(in: transaction, part: part) { key, record in
        if sieve.passes(record) { try add(key, record, to: &rows, filter, verifies: verifies) }
        return true
      }
    } else {
      try forEachUnsorted(in: transaction, part: part) { key, record in
        try add(key, record, to: &rows, filter, verifies: verifies)
        return true
      }
    }
    // The sieve has no hold on the gate.
    withExtendedLifetime(gate) {}
    return rows
  }

  /// Makes ready what several threads are going to use.
  func prepareToSort() { _ = whole.evaluation }

  @inline(__always)
  private func add(
    _ key: Key, _ record: Record, to rows: inout SortedRows, _ order: Evaluation,
    verifies: Bool = true
  ) throws {
    do {
      try rows.add(key: key, record: record) {
        if verifies { try binding.verify(record, key: key) }
      } _: { bytes in
        try binding.readingUnverified(record, key: key) {
          try order.putSortValues($0, into: &bytes)
        }
      }
    } catch {
      // Its sort values cannot be read.
      guard let unreadable = selection.unreadable else { throw error }
      _ = try unreadable.skipping { throw error } as Void?
    }
  }

  /// Along an index for its order, until it turns out that to find all and sort them costs less.
  private func forEachInOrder(
    _ access: IndexAccess, _ order: IndexOrder, _ retreat: Plan.Retreat, _ wanted: Int,
    _ transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    var patience = Patience(retreat, wanted: wanted)
    try withoutActuallyEscaping({ (key: Key, record: Record) throws -> Bool in
      patience.match()
      return try taker.take(key, record)
    }) { take in
      try forEachInOrder(access, order, transaction, Taker(take: take)) { patience.goesOn() }
    }
    guard patience.isLost else { return }
    // What it has found is what the others begin with.
    var known = patience.matched
    let planner = Planner(
      selection, binding.collection, usesSearchIndexes: retreat.usesSearchIndexes,
      usesOrder: false)
    let other = Execution(try planner.plan(transaction), selection, binding, tally: tally)
    tally?.replacePlan(by: other.plan)
    try withoutActuallyEscaping({ (key: Key, record: Record) throws -> Bool in
      if known == 0 { return try taker.take(key, record) }
      known -= 1
      return true
    }) { try other.forEach(in: transaction, wanted: wanted, Taker(take: $0)) }
  }

  private func forEachUnsorted(
    in transaction: borrowing LentTransaction, part: KeyRange? = nil, _ body: Body
  ) throws {
    try withoutActuallyEscaping(body) { body in
      let taker = Taker(take: body)
      if let part { return try scan(part, transaction, taker) }
      try forEachUnsorted(in: transaction, taker)
    }
  }

  private func forEachUnsorted(
    in transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    switch plan.source {
    case .nothing: return
    case .everything: try scan(.everything, transaction, taker)
    case .keyRange(let range): try scan(range, transaction, taker)
    case .keys(let keys):
      var documents = try transaction.cursor(in: binding.collection.documents)
      for key in keys {
        guard try lend(key, &documents, taker) else { return }
      }
    case .search(let finding): try forEachFound(finding, transaction, taker)
    case .index(let access):
      if case .index(let order) = plan.order {
        try forEachInOrder(access, order, transaction, taker)
      } else if access.isInKeyOrder {
        try forEachEntry(access, transaction, taker)
      } else {
        try forEach(keys: keys(of: [access], transaction), access.index, transaction, taker)
      }
    case .union(let accesses):
      // Each finds what only its own part settles, so that everything is asked again.
      try forEach(keys: keys(of: accesses, transaction), nil, transaction, taker)
    case .intersection(let first, let second):
      try forEach(
        keys: common(first, second, transaction), first.index, transaction, taker)
    }
  }

  /// Reads the document under a key, and lends it if it is there and matches.
  ///
  /// - Returns: False where `body` says so.
  private func lend(_ key: [UInt8], _ documents: inout Cursor, _ taker: Taker) throws -> Bool {
    try key.withUnsafeBytes { key in
      guard (1...KeyKind.maximumByteCount).contains(key.count), try documents.seek(key),
        try matches(residual, key: documents.key, record: documents.value)
      else { return true }
      return try taker.take(documents.key, documents.value)
    }
  }

  @inline(__always)
  private func matches(_ evaluation: Evaluation, key: Key, record: Record) throws -> Bool {
    let matches = try binding.matches(evaluation, key: key, record: record)
    if let tally {
      tally.examined += 1
      if matches { tally.matched += 1 }
    }
    return matches
  }

  func scan(
    _ range: KeyRange, _ transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    var cursor = try transaction.cursor(in: binding.collection.documents)
    let residual = residual
    if let sieve = residual.sieve(binding) {
      if let tally {
        // As below, so that both say the same of a record whose bytes are damaged.
        try cursor.forEach(in: range) { key, record in
          guard sieve.passes(record) else {
            tally.examined += 1
            return true
          }
          guard try matches(residual, key: key, record: record) else { return true }
          return try taker.take(key, record)
        }
        return
      }
      try cursor.forEach(in: range, passing: sieve) { key, record in
        guard try matches(residual, key: key, record: record) else { return true }
        return try taker.take(key, record)
      }
      return
    }
    try cursor.forEach(in: range) { key, record in
      guard try matches(residual, key: key, record: record) else { return true }
      return try taker.take(key, record)
    }
  }
}

// MARK: Searches

extension Execution {
  private func forEachFound(
    _ finding: SearchFinding, _ transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    var documents = try transaction.cursor(in: binding.collection.documents)
    let isRanked = if case .rank = plan.order { true } else { false }
    var last: (key: [UInt8], score: Double)?
    do {
      guard isRanked else {
        for key in try finding.keys(transaction) {
          guard try lend(key, &documents, taker) else { return }
        }
        return
      }
      try finding.forEachBest(transaction) { key, score in
        last = (key, score)
        return try lend(key, &documents, taker)
      }
    } catch let damage as SearchDamage {
      // The documents themselves say what is left, behind the last that was found.
      binding.collection.tell(of: damage, in: finding.index)
      var rest = selection
      if let (key, score) = last {
        let (_, filter) = selection.filter.splitAtPosition
        let position = Position(order: selection.order, values: [.double(score)], key: key)
        rest.filter = .all([filter, .behind(position)])
      }
      let planner = Planner(rest, binding.collection, usesSearchIndexes: false)
      let execution = Execution(try planner.plan(transaction), rest, binding, tally: tally)
      if isRanked { return try execution.forEach(in: transaction, wanted: .max, taker) }
      try execution.forEachUnsorted(in: transaction, taker)
    }
  }
}

// MARK: Entries

extension Execution {
  /// A document's key in an index entry.
  struct Found {
    let key: Key
    /// Whether the entry itself says that the document fulfils what the ranges settle. One whose values
    /// were cut does not.
    let isSettled: Bool
  }

  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``.
  @inline(__always)
  private func found(_ access: IndexAccess, _ cursor: borrowing Cursor) throws -> Found {
    try found(access, cursor.key, cursor.value)
  }

  @inline(__always)
  private func found(
    _ access: IndexAccess, _ entry: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws -> Found {
    let count = try access.index.checkedValueByteCount(ofEntry: entry, value)
    return Found(
      key: UnsafeRawBufferPointer(rebasing: entry[count...]),
      isSettled: access.settles(entry, value))
  }

  /// What to throw where a document is not there that was lent by its key alone.
  var missingDocument: StoreError {
    witness?.missingDocument
      ?? .damagedCatalogue("a document that was just found is not there")
  }

  /// The index by which alone documents are found; nil where they were looked at.
  var witness: CollectionIndex? {
    switch plan.source {
    case .index(let access), .intersection(let access, _): access.index
    case .everything, .nothing, .keys, .keyRange, .union, .search: nil
    }
  }

  /// Reads a document that an entry names, and lends it if it matches.
  ///
  /// - Returns: False where `body` says so.
  private func lend(
    _ found: Found, _ index: CollectionIndex?, _ documents: inout Cursor, _ taker: Taker
  ) throws -> Bool {
    if lendsKeys, asksNothing, found.isSettled {
      return try taker.take(found.key, Record(start: nil, count: 0))
    }
    guard try documents.seek(found.key) else {
      guard let index else { return true }
      throw index.missingDocument
    }
    if !asksNothing || !found.isSettled {
      let evaluation = found.isSettled ? residual : whole.evaluation
      guard try matches(evaluation, key: documents.key, record: documents.value) else {
        return true
      }
    }
    return try taker.take(documents.key, documents.value)
  }

  /// Along entries, which lend documents in the order of their keys where they are in that order.
  private func forEachEntry(
    _ access: IndexAccess, _ transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    var documents = try transaction.cursor(in: binding.collection.documents)
    var entries = try transaction.cursor(in: access.index.database)
    let index = access.index
    for range in access.ranges {
      let isDone = try index.forEachEntry(in: range, &entries) { entry, value in
        try lend(try found(access, entry, value), index, &documents, taker)
      }
      guard isDone else { return }
    }
  }

  /// The keys in the ranges, each once, ascending.
  private func keys(
    of accesses: [IndexAccess], _ transaction: borrowing LentTransaction
  ) throws -> [Found] {
    var keys: [Found] = []
    for access in accesses {
      var entries = try transaction.cursor(in: access.index.database)
      for range in access.ranges {
        try access.index.forEachEntry(in: range, &entries) { entry, value in
          let entry = try found(access, entry, value)
          // What several indexes find is asked whole.
          keys.append(
            Found(key: entry.key, isSettled: entry.isSettled && accesses.count == 1))
          return true
        }
      }
    }
    keys.sort { Bytes.compare($0.key, $1.key) < 0 }
    var unique: [Found] = []
    unique.reserveCapacity(keys.count)
    for key in keys {
      if let last = unique.last, Bytes.equal(last.key, key.key) { continue }
      unique.append(key)
    }
    return unique
  }

  private func forEach(
    keys: [Found], _ index: CollectionIndex?,
    _ transaction: borrowing LentTransaction, _ taker: Taker
  ) throws {
    var documents = try transaction.cursor(in: binding.collection.documents)
    for key in keys {
      guard try lend(key, index, &documents, taker) else { return }
    }
  }

  /// The keys that both have; each gives its own in their order.
  private func common(
    _ first: IndexAccess, _ second: IndexAccess,
    _ transaction: borrowing LentTransaction
  ) throws -> [Found] {
    guard let firstRange = first.ranges.first, let secondRange = second.ranges.first else {
      return []
    }
    var result: [Found] = []
    var left = try transaction.cursor(in: first.index.database)
    var right = try transaction.cursor(in: second.index.database)
    var hasLeft = try firstRange.lower.withUnsafeBytes {
      try first.index.seek(atOrAfter: $0, &left)
    }
    var hasRight = try secondRange.lower.withUnsafeBytes {
      try second.index.seek(atOrAfter: $0, &right)
    }
    while hasLeft, hasRight, firstRange.isBefore(end: left.key),
      secondRange.isBefore(end: right.key)
    {
      let one = try found(first, left)
      let other = try found(second, right)
      let order = Bytes.compare(one.key, other.key)
      if order == 0 {
        result.append(Found(key: one.key, isSettled: one.isSettled && other.isSettled))
      }
      if order <= 0 { hasLeft = try left.next() }
      if order >= 0 { hasRight = try right.next() }
    }
    if hasLeft { try first.index.check(left) }
    if hasRight { try second.index.check(right) }
    return result
  }
}

// MARK: Counting

extension Execution {
  /// How many documents match; counts up to a limit.
  func count(in transaction: borrowing LentTransaction, upTo limit: Int) throws -> Int {
    var count = 0
    let taker = Taker { _, _ in
      count += 1
      return count < limit
    }
    if limit < .max, case .index(let access) = plan.source, access.findsEachOnce {
      // Which ones are counted does not matter. In the order of their keys all would have to be found first: 308 ms in
      // place of 2.8, not optimized, for one of 20,000 among 200,000 documents.
      try forEachEntry(access, transaction, taker)
    } else {
      try forEachUnsorted(in: transaction, taker)
    }
    return count
  }

  /// How many documents an index finds that knows all conditions; counts up to a limit.
  func count(
    _ access: IndexAccess, in transaction: borrowing LentTransaction, upTo limit: Int
  ) throws -> Int {
    guard access.findsEachOnce else {
      var count = 0
      try forEachUnsorted(in: transaction) { _, _ in
        count += 1
        return count < limit
      }
      return count
    }
    var entries = try transaction.cursor(in: access.index.database)
    var count = 0
    var asked: [Found] = []
    for range in access.ranges where count < limit {
      var found = count
      try access.index.forEachEntry(in: range, &entries) { entry, value in
        let valueByteCount = try access.index.checkedValueByteCount(ofEntry: entry, value)
        if access.settles(entry, value) {
          found += 1
        } else {
          let key = UnsafeRawBufferPointer(rebasing: entry[valueByteCount...])
          asked.append(Found(key: key, isSettled: false))
        }
        return found < limit
      }
      count = found
    }
    if asked.isEmpty || count >= limit { return count }
    try forEach(
      keys: asked, access.index, transaction,
      Taker { _, _ in
        count += 1
        return count < limit
      })
    return count
  }
}

// MARK: Order

extension Execution {
  /// Along an index in the order that it has. Documents that the order does not tell apart come
  /// in the order of their keys, so that such a run is collected before it is lent, except a long one whose
  /// entries are in that order already.
  ///
  /// - Parameter goesOn: Asked behind each entry whose document was not taken for the last one.
  private func forEachInOrder(
    _ access: IndexAccess, _ order: IndexOrder,
    _ transaction: borrowing LentTransaction, _ taker: Taker, _ goesOn: () -> Bool = { true }
  ) throws {
    guard let range = access.ranges.first else { return }
    var documents = try transaction.cursor(in: binding.collection.documents)
    var entries = try transaction.cursor(in: access.index.database)
    let index = access.index
    var hasOne = try index.seek(firstOf: range, isReversed: order.isReversed, &entries)
    while hasOne, range.holds(entries.key, isReversed: order.isReversed) {
      let key = entries.key
      let entry = try found(access, entries)
      let isCut = IndexEntry.isCut(entries.value)
      if order.isWhole, !isCut {
        tally?.entries += 1
        // What was found stays where it is while the cursor goes on.
        hasOne = order.isReversed ? try entries.previous() : try entries.next()
        let values = UnsafeRawBufferPointer(rebasing: key[..<(key.count - entry.key.count)])
        let isAlone = !order.isReversed || !hasOne || !entries.key.begins(with: values)
        if isAlone {
          guard try lend(entry, index, &documents, taker), goesOn() else { return }
          continue
        }
        hasOne = try entries.next()
      }
      var run = Run(key, isCut: isCut, order, index)
      var isLong = false
      repeat {
        tally?.entries += 1
        run.keys.append(try found(access, entries))
        hasOne = order.isReversed ? try entries.previous() : try entries.next()
        isLong = order.isWhole && !isCut && run.keys.count == Run.longCount
      } while !isLong && hasOne && range.holds(entries.key, isReversed: order.isReversed)
        && run.prefix.withUnsafeBytes { entries.key.begins(with: $0) }
      if isLong {
        guard try lendFromStart(of: run, access, &entries, &documents, taker, goesOn) else {
          return
        }
        hasOne = try run.prefix.withUnsafeBytes { try index.seek(before: $0, &entries) }
        continue
      }
      guard try lend(run, index, transaction, &documents, taker, goesOn) else { return }
    }
    if hasOne { try index.check(entries) }
  }

  /// Lends the documents of a run while it is read from its start, or from where a page begins in it. The
  /// way in reverse has come to its end, and has seen only that it is long.
  private func lendFromStart(
    of run: Run, _ access: IndexAccess, _ entries: inout Cursor, _ documents: inout Cursor,
    _ taker: Taker, _ goesOn: () -> Bool
  ) throws -> Bool {
    let index = access.index
    let last = run.keys[0].key
    var start = run.prefix
    if let pageStart = access.pageStart, pageStart.starts(with: run.prefix) {
      // The page begins behind all of it.
      if last.lexicographicallyPrecedes(pageStart[run.prefix.count...]) { return true }
      start = pageStart
    }
    var hasOne = try start.withUnsafeBytes { try index.seek(atOrAfter: $0, &entries) }
    while hasOne, run.prefix.withUnsafeBytes({ entries.key.begins(with: $0) }) {
      tally?.entries += 1
      let entry = try found(access, entries)
      hasOne = try entries.next()
      guard try lend(entry, index, &documents, taker), goesOn() else { return false }
      if Bytes.equal(entry.key, last) { return true }
    }
    if hasOne { try index.check(entries) }
    throw index.disorder
  }

  /// Lends the documents of a run, in the order of their keys, or of their values behind the cut.
  private func lend(
    _ run: Run, _ index: CollectionIndex,
    _ transaction: borrowing LentTransaction, _ documents: inout Cursor, _ taker: Taker,
    _ goesOn: () -> Bool
  ) throws -> Bool {
    guard run.needsValues else {
      for key in run.keys.sorted(by: { Bytes.compare($0.key, $1.key) < 0 }) {
        guard try lend(key, index, &documents, taker), goesOn() else { return false }
      }
      return true
    }
    var rows = SortedRows(limit: .max)
    let filter = whole.evaluation
    for key in run.keys {
      guard try documents.seek(key.key) else { throw index.missingDocument }
      let (key, record) = (documents.key, documents.value)
      try add(key, record, to: &rows, filter)
    }
    for row in rows.sorted() {
      let found = Found(key: row.key, isSettled: false)
      guard try lend(found, index, &documents, taker), goesOn() else { return false }
    }
    return true
  }
}

/// Entries that follow each other and that an order, or the cut of their values, does not tell
/// apart.
private struct Run {
  /// From so many entries on, a run whose entries are in the order of the keys is read from its start. To
  /// collect fewer takes no seek.
  static let longCount = 16

  /// What they all begin with.
  let prefix: [UInt8]
  /// Whether only the documents themselves say in which order they are.
  let needsValues: Bool
  var keys: [Execution.Found] = []

  init(
    _ key: UnsafeRawBufferPointer, isCut: Bool, _ order: IndexOrder, _ index: CollectionIndex
  ) {
    let values =
      isCut
      ? UnsafeRawBufferPointer(rebasing: key.prefix(CollectionIndex.maximumValueByteCount)) : key
    var count = 0
    var isWhole = true
    for part in index.parts.prefix(order.partCount) where isWhole {
      let rest = UnsafeRawBufferPointer(rebasing: values[count...])
      if let more = OrderedBytes.count(of: rest, mask: part.definition.mask) {
        count += more
      } else {
        isWhole = false
      }
    }
    needsValues = !isWhole
    prefix = Array(isWhole ? values[..<count] : values[...])
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func begins(with other: UnsafeRawBufferPointer) -> Bool {
    count >= other.count
      && Bytes.equal(UnsafeRawBufferPointer(rebasing: self[..<other.count]), other)
  }
}
