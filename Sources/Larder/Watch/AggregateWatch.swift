internal import LarderLMDB

/// Watches an aggregate of a query of a store.
///
/// One that can follow changes costs what the changes cost; for any other all that the query selects
/// is looked at again when something that it matches has changed.
struct AggregateWatch<
  Model: Sendable, Entity: Document, Result: Sendable & Equatable
>: WatchWork {
  private let store: Store
  private let aggregate: Aggregate<Entity, Result>
  private let query: Query<Entity>
  private let selection: Selection
  private let form: ModelForm<Model, Entity>
  private var follower: LogFollower
  private var running: (any RunningAggregate<Result>)?
  private var last: Result?
  private var bound: (binding: CollectionBinding, filter: Evaluation)?
  /// How often all was looked at again, for tests of how it is done.
  private(set) var rereadCount = 0

  init(
    _ store: Store, _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    _ form: ModelForm<Model, Entity>, ignoring ignored: Set<ChangeOrigin>
  ) {
    self.store = store
    self.aggregate = aggregate
    self.query = query
    self.form = form.skipping(query.selection.unreadable)
    selection = aggregate.selection(of: query)
    follower = LogFollower(WatchInterest(form, selection.interest, ignoring: ignored))
  }

  mutating func next(skippingTo skipped: UInt64) throws -> Result? {
    try store.checkOpen()
    return try store.engine.storing {
      try store.engine.withChangeLog { snapshot, log in
        try next(skippingTo: skipped, snapshot, log)
      }
    }
  }

  private mutating func next(
    skippingTo skipped: UInt64, _ snapshot: borrowing Snapshot, _ log: Database?
  ) throws -> Result? {
    let binding = try form.binding(snapshot.catalogue)
    if let binding, !binding.collection.description.isLogged {
      throw StoreError.unlogged(collection: binding.collection.name)
    }
    if follower.position == nil {
      follower.begin(snapshot)
      return try read(snapshot, binding)
    }
    let news = follower.news(
      skippingTo: skipped, isThere: binding != nil, patience: LogFollower.patience, snapshot, log)
    switch news {
    case .nothing: return nil
    case .unknown: return try read(snapshot, binding)
    case .changes(let changes):
      guard let binding else { return nil }
      return try step(changes, binding, snapshot)
    }
  }

  /// The result, if it is not the one before.
  private mutating func told(_ result: Result) -> Result? {
    if let last, result.isSame(as: last) { return nil }
    last = result
    return result
  }
}

extension Equatable {
  /// Whether an aggregate is what it was. A NaN is not even equal to itself; an array that has one is, so that arrays with
  /// a NaN still count as changed.
  func isSame(as other: Self) -> Bool {
    self == other || (self != self && String(reflecting: self) == String(reflecting: other))
  }
}

// MARK: Reading all

extension AggregateWatch {
  private mutating func read(
    _ snapshot: borrowing Snapshot, _ binding: CollectionBinding?
  ) throws -> Result? {
    rereadCount += 1
    running = nil
    bound = binding.map { ($0, evaluation($0)) }
    if let resumed = aggregate.resumed, form.isWhole, canFollow {
      let result = try snapshot.moment.aggregate(aggregate, of: query, form)
      running = resumed(result)
      return told(result)
    }
    if let binding, canFollow, let begin = aggregate.running {
      let execution = try snapshot.transaction.execution(of: selection, binding)
      var running = begin(binding.collection)
      try snapshot.moment.forEachRecord(selection, execution, form) {
        try running.add($1)
        return true
      }
      self.running = running
      return told(try running.result())
    }
    return told(try snapshot.moment.aggregate(aggregate, of: query, form))
  }

  /// Whether each document counts or does not, whatever the others do.
  private var canFollow: Bool { selection.maximum == nil && selection.skipped == 0 }

  private func evaluation(_ binding: CollectionBinding) -> Evaluation {
    Evaluation(
      selection.filter, in: binding.collection, passesUnreadable: selection.unreadable != nil)
  }
}

// MARK: Steps

extension AggregateWatch {
  private mutating func step(
    _ changes: ChangedDocuments, _ binding: CollectionBinding, _ snapshot: borrowing Snapshot
  ) throws -> Result? {
    let isConcerned: Bool
    do {
      isConcerned = try follow(changes, binding, snapshot)
    } catch {
      // A record that cannot be read: the store itself says what there is, or throws.
      return try read(snapshot, binding)
    }
    guard isConcerned else { return nil }
    guard let running, !running.dependsOnOrder else { return try read(snapshot, binding) }
    return told(try running.result())
  }

  /// Takes the records of before away and adds those of now; what follows no changes is only asked
  /// for.
  ///
  /// - Returns: Whether any of them counts.
  private mutating func follow(
    _ changes: ChangedDocuments, _ binding: CollectionBinding, _ snapshot: borrowing Snapshot
  ) throws -> Bool {
    if bound?.binding !== binding {
      // Fields may stand elsewhere.
      running = nil
      return true
    }
    // Another document may have changed the rank of all.
    if selection.needsStatistics, running?.dependsOnOrder != false { return true }
    guard let filter = bound?.filter else { return false }
    var isConcerned = false
    var documents = try snapshot.transaction.cursor(in: binding.collection.documents)
    for document in changes.documents {
      if let old = document.old, try binding.matches(filter, key: document.key, record: old),
        try !form.skips(old, key: document.key, binding)
      {
        try binding.reading(old, key: document.key) { record in
          guard try form.counts(record) else { return }
          isConcerned = true
          try running?.remove(record)
        }
      }
      guard try documents.seek(document.key),
        try binding.matches(filter, key: document.key, record: documents.value),
        try !form.skips(documents.value, key: document.key, binding)
      else { continue }
      try binding.reading(documents.value, key: document.key) { record in
        guard try form.counts(record) else { return }
        isConcerned = true
        try running?.add(record)
      }
    }
    return isConcerned
  }
}
