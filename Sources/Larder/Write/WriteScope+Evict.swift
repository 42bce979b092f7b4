internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension WriteScope {
  /// Deletes documents that the rules of their type let go of, the oldest first; returns how many.
  ///
  /// They are deletions like any other, and watchers see them; the change log says that they are of
  /// origin ``ChangeOrigin/expiry``.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - now: What ages are counted to.
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)`` for a
  ///   document that has to be looked at: nobody knows how old it is. Delete or save it.
  @discardableResult
  public mutating func evict<Entity: Document>(
    _ type: Entity.Type, limit: Int = .max, asOf now: Date = .now
  ) throws -> Int {
    let plan = AgeingPlan(type)
    guard !plan.rules.isEmpty, let binding = try plan.binding(catalogue) else { return 0 }
    var evicted = 0
    var walk = EvictionWalk()
    for rule in plan.rules {
      evicted += try evict(rule, binding, limit: limit - evicted, asOf: now, &walk)
    }
    return evicted
  }

  /// Notes that documents of a type were saved, whose rules are then followed at the end.
  @usableFromInline package mutating func noteAgeing<Entity: Document>(_ type: Entity.Type) {
    if Entity.ageing.isEmpty { return }
    ageing[Entity.schema.name] = AgeingPlan(type)
  }

  /// Documents that go in one write that has another purpose, at least; twice as many as it saved
  /// where those are more.
  private static var stepCount: Int { 16 }

  /// Takes a step of eviction for the types whose documents were saved.
  mutating func age() {
    let plans = ageing
    ageing = [:]
    let limit = max(Self.stepCount, 2 * Int(clamping: min(changeCount, 1 << 20)))
    for (name, plan) in plans {
      do {
        guard let binding = try plan.binding(catalogue) else { continue }
        let rules = plan.rules.enumerated().filter { isQuick($0.element, binding.collection) }
        try undoable { scope in
          var left = limit
          for (number, rule) in rules {
            left -= try scope.step(rule, number, binding, limit: left)
          }
        }
      } catch {
        // A save does not fail for what is too old: it goes with a later one, or `evict` says why
        // it cannot.
        engine.log.tellOfEviction(of: name, error)
      }
    }
  }

  /// Whether finding the oldest costs little.
  private borrowing func isQuick(_ rule: AgeingRule, _ collection: Collection) -> Bool {
    for index in collection.indexes
    where index.isComplete && !index.isOfWords && index.definition.filter == nil {
      guard let path = rule.path, index.definition.parts[0].agrees(with: path) else { continue }
      // What cannot be read is not evicted.
      if (try? LentTransaction(transaction).knowsAllDocuments(index)) == true { return true }
    }
    let count = try? transaction.statistics(of: collection.documents).entryCount
    return count.map { $0 <= 1000 } ?? false
  }

  /// Evicts what one rule lets go of, and goes past so many documents with unsent edits at most: offline
  /// they may be most of those that are due. The next step goes on behind them.
  private mutating func step(
    _ rule: AgeingRule, _ number: Int, _ binding: CollectionBinding, limit: Int
  ) throws -> Int {
    let engine = engine
    let id = EvictionPlace.ID(collection: binding.collection.name, rule: number)
    // Where it fails the next one begins with the oldest.
    let place = engine.evictionPlaces.withLock { $0.removeValue(forKey: id) }
    var walk = EvictionWalk(unsentLimit: Self.unsentFactor * limit)
    // Another type may have other rules for the same documents.
    if place?.position.order == [rule.order] { walk.place = place }
    let count = try evict(rule, binding, limit: limit, asOf: .now, &walk)
    if let end = walk.place { engine.evictionPlaces.withLock { $0[id] = end } }
    return count
  }

  /// How many documents with unsent edits a step may pass, for each that it may evict.
  private static var unsentFactor: Int { 8 }

  private mutating func evict(
    _ rule: AgeingRule, _ binding: CollectionBinding, limit: Int, asOf now: Date,
    _ walk: inout EvictionWalk
  ) throws -> Int {
    var evicted = 0
    while evicted < limit {
      let excess = try excess(rule, binding.collection)
      let wanted = min(excess.documentCount, limit - evicted)
      guard wanted > 0 else { break }
      let count = try evict(rule, binding, count: wanted, excess, asOf: now, &walk)
      evicted += count
      // Pages are measured anew; the others know at once.
      guard count > 0, walk.unsentLimit > 0, case .bytes = rule.bound else { break }
    }
    return evicted
  }

  /// By how much a collection exceeds a rule, in documents or in bytes of pages.
  private struct Excess {
    var amount: Int
    /// How much of it may go before it is measured anew, and how many documents at most.
    var atOnce: Int
    var documentCount: Int
    /// The size of a page, where it is counted in bytes.
    var pageByteCount: Int?

    /// A record that is larger than a part of a page has pages of its own.
    func amount(of record: UnsafeRawBufferPointer) -> Int {
      guard let page = pageByteCount else { return 1 }
      return record.count > page / 2 ? (record.count + page - 1) / page * page : record.count
    }
  }

  private borrowing func excess(
    _ rule: AgeingRule, _ collection: Collection
  ) throws -> Excess {
    let statistics = try transaction.statistics(of: collection.documents)
    switch rule.bound {
    case .age: return Excess(amount: .max, atOnce: .max, documentCount: .max)
    case .count(let count):
      let excess = max(0, statistics.entryCount - count)
      return Excess(amount: excess, atOnce: excess, documentCount: excess)
    case .bytes(let byteCount):
      let excess = statistics.byteCount - byteCount
      guard excess > 0 else { return Excess(amount: 0, atOnce: 0, documentCount: 0) }
      // Half of it, so that none too many goes: the pages between documents may become free as well.
      let share = Double(excess) / Double(statistics.byteCount)
      return Excess(
        amount: excess, atOnce: max(1, excess / 2),
        documentCount: max(1, Int(Double(statistics.entryCount) * share / 2)),
        pageByteCount: statistics.pageByteCount)
    }
  }

  private mutating func evict(
    _ rule: AgeingRule, _ binding: CollectionBinding, count: Int, _ excess: Excess,
    asOf now: Date, _ walk: inout EvictionWalk
  ) throws -> Int {
    var keys = KeyList()
    let collection = binding.collection
    let prefix = OutboxKey.prefix(of: collection.name)
    // Edits stay in the outbox also where the collection is not synced any more.
    var unsent = engine.outboxDatabases?.outbox
    if let outbox = unsent, try !transaction.hasKey(withPrefix: prefix, in: outbox) { unsent = nil }
    if unsent == nil { walk.place = nil }
    var selection = rule.selection(asOf: now)
    let start = walk.place
    if let start { selection.filter = .all([selection.filter, .behind(start.position)]) }
    let isBounded = walk.unsentLimit < .max
    let wanted = unsent == nil ? count : isBounded ? count + walk.unsentLimit : .max
    // The planner would else take it that all of them are wanted, and may sort them.
    if isBounded { selection.maximum = wanted }
    var (passed, taken) = (start?.passedAmount ?? 0, 0)
    var isFull = false
    try transaction.execution(of: selection, binding).forEach(in: transaction, wanted: wanted) {
      key, record in
      // Those behind are not too many: what is unsent stays as one too many, and before the place there may be older ones
      // by now.
      if passed + taken >= excess.amount { return false }
      // What no remote has yet is nowhere else.
      if let unsent, try transaction.hasKey(prefix + key, in: unsent) {
        passed += excess.amount(of: record)
        walk.unsentLimit -= 1
        // One that cannot be read is no place to go on behind; it stays as it is here.
        guard walk.unsentLimit <= 0,
          let position = try? Position(of: record, key: key, selection.order, binding)
        else { return true }
        walk.place = EvictionPlace(position: position, passedAmount: passed)
        isFull = true
        return false
      }
      // What is deleted for its bytes must have them.
      try binding.reading(record, key: key) { _ in }
      keys.append(key)
      taken += excess.amount(of: record)
      isFull = keys.count == count || taken >= excess.atOnce
      return !isFull
    }
    // Behind the last one it begins again with the oldest.
    if !isFull { walk.place = nil }
    guard keys.count > 0 else { return 0 }
    return try writing(as: .expiry) { scope in
      try scope.change(of: collection) { scope, changes in
        var cursor = try scope.transaction.cursor(in: collection.documents)
        try keys.forEach { _ = try scope.delete($0, at: &cursor, &changes) }
        return keys.count
      }
    }
  }
}

extension Position {
  /// Right behind a document.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  fileprivate init(
    of record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ order: [SortKey],
    _ binding: CollectionBinding
  ) throws {
    let values = Evaluation(.constant(true), order: order, in: binding.collection)
    self.init(
      order: order,
      values: try binding.reading(record, key: key) { try values.sortValues($0) },
      key: [UInt8](key))
  }
}
