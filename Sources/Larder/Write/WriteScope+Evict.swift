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
    return try evict(plan.rules, binding, limit: limit, asOf: now)
  }

  /// Notes that documents of a type were saved, whose rules are then followed at the end.
  @usableFromInline mutating func noteAgeing<Entity: Document>(_ type: Entity.Type) {
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
        let rules = plan.rules.filter { isQuick($0, binding.collection) }
        try undoable { scope in
          _ = try scope.evict(rules, binding, limit: limit, asOf: .now)
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
    let names = rule.path?.map(\.name)
    let hasIndex = collection.indexes.contains { index in
      index.isComplete && !index.isOfWords && index.definition.filter == nil
        && index.definition.parts.first?.path == names
    }
    if hasIndex { return true }
    let count = try? transaction.statistics(of: collection.documents).entryCount
    return count.map { $0 <= 1000 } ?? false  // What cannot be read is not evicted.
  }

  private mutating func evict(
    _ rules: [AgeingRule], _ binding: CollectionBinding, limit: Int, asOf now: Date
  ) throws -> Int {
    var evicted = 0
    for rule in rules {
      while evicted < limit {
        let wanted = min(try excess(rule, binding.collection), limit - evicted)
        guard wanted > 0 else { break }
        let count = try evict(rule, binding, count: wanted, asOf: now)
        evicted += count
        // Pages are measured anew; the others know at once.
        guard count == wanted, case .bytes = rule.bound else { break }
      }
    }
    return evicted
  }

  /// How many documents are too many, or may be.
  private borrowing func excess(_ rule: AgeingRule, _ collection: Collection) throws -> Int {
    let statistics = try transaction.statistics(of: collection.documents)
    switch rule.bound {
    case .age: return .max
    case .count(let count): return max(0, statistics.entryCount - count)
    case .bytes(let byteCount):
      guard statistics.byteCount > byteCount else { return 0 }
      // Half of what would do if all were of one size, so that none too many goes.
      let share = Double(statistics.byteCount - byteCount) / Double(statistics.byteCount)
      return max(1, Int(Double(statistics.entryCount) * share / 2))
    }
  }

  private mutating func evict(
    _ rule: AgeingRule, _ binding: CollectionBinding, count: Int, asOf now: Date
  ) throws -> Int {
    var keys = KeyList()
    let collection = binding.collection
    let prefix = OutboxKey.prefix(of: collection.name)
    // Edits stay in the outbox also where the collection is not synced any more.
    var unsent = engine.outboxDatabases?.outbox
    if let outbox = unsent, try !transaction.hasKey(withPrefix: prefix, in: outbox) { unsent = nil }
    try transaction.execution(of: rule.selection(asOf: now), binding).forEach(
      in: transaction, wanted: unsent == nil ? count : .max
    ) { key, record in
      // What no remote has yet is nowhere else.
      if let unsent, try transaction.hasKey(prefix + key, in: unsent) { return true }
      // What is deleted for its bytes must have them.
      try binding.reading(record, key: key) { _ in }
      keys.append(key)
      return keys.count < count
    }
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
