/// One step of a watched query: what to do with the list that the steps before have made.
///
/// ```swift
/// for try await change in contacts.watch(query) { list.apply(change) }
/// ```
/// After each step the list, which is ``Rows`` or an array, is what a fetch of the moment
/// ``sequence`` would have given.
public enum ResultChange<Model: Sendable>: Sendable {
  /// The first element: what is stored.
  case initial(Rows<Model>, sequence: UInt64)
  /// What has changed.
  case update(ResultDifference<Model>)
  /// The watcher was away for too long to tell step by step: the whole result, and how it differs
  /// from the one before.
  case reset(Rows<Model>, ResultDifference<Model>)

  /// The number of the last change of the store that this step has seen.
  public var sequence: UInt64 {
    switch self {
    case .initial(_, let sequence): sequence
    case .update(let difference), .reset(_, let difference): difference.sequence
    }
  }
}

/// How one result of a query became the next.
///
/// Removals first, each at the offset that it has in the old result, the last one first; then
/// insertions at their offsets in the new result, the first one first; then updates, which move
/// nothing. Whoever follows this order has the new result.
public struct ResultDifference<Model: Sendable>: Sendable {
  /// A row that has gone.
  public struct Removal: Sendable, Equatable {
    /// The row's offset in the old result.
    public let offset: Int
    /// Its offset in the new result, if it has only moved: an insertion brings it there.
    public let destination: Int?
  }

  /// A row that has come.
  public struct Insertion: Sendable {
    /// The row's offset in the new result.
    public let offset: Int
    /// What stands there now.
    public let model: Model
    /// Its offset in the old result, if it has only moved; it may have changed too.
    public let origin: Int?
  }

  /// A row whose model has changed.
  public struct Update: Sendable {
    /// The row's offset in the new result.
    public let offset: Int
    /// The model as it is now.
    public let model: Model
  }

  /// Descending by offset.
  public let removals: [Removal]
  /// Ascending by offset.
  public let insertions: [Insertion]
  /// Ascending by offset.
  public let updates: [Update]
  /// The number of the last change of the store that the new result has seen.
  public let sequence: UInt64

  /// Whether nothing has changed.
  public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty }

  init(_ rows: RowDifference, sequence: UInt64, _ model: (Row) throws -> Model) rethrows {
    removals = rows.removals.map { Removal(offset: $0.offset, destination: $0.destination) }
    insertions = try rows.insertions.map {
      Insertion(offset: $0.offset, model: try model($0.row), origin: $0.origin)
    }
    updates = try rows.updates.map { Update(offset: $0.offset, model: try model($0.row)) }
    self.sequence = sequence
  }

  /// For repositories that find differences in another way; offsets in any order.
  public init(
    removals: [(offset: Int, destination: Int?)],
    insertions: [(offset: Int, model: Model, origin: Int?)],
    updates: [(offset: Int, model: Model)], sequence: UInt64
  ) {
    self.removals = removals.map { Removal(offset: $0.offset, destination: $0.destination) }
      .sorted { $0.offset > $1.offset }
    self.insertions =
      insertions
      .map { Insertion(offset: $0.offset, model: $0.model, origin: $0.origin) }
      .sorted { $0.offset < $1.offset }
    self.updates = updates.map { Update(offset: $0.offset, model: $0.model) }
      .sorted { $0.offset < $1.offset }
    self.sequence = sequence
  }
}

// MARK: Applying

extension ResultDifference {
  /// Swift's own form of the difference, in which an update is a removal and an insertion that
  /// belong together. Costs what the difference costs.
  ///
  /// - Parameter old: The old result.
  /// - Precondition: The difference begins with a result as long as `old`.
  public func collectionDifference<Old: RandomAccessCollection>(
    from old: Old
  ) -> CollectionDifference<Model> where Old.Element == Model, Old.Index == Int {
    var changes: [CollectionDifference<Model>.Change] = []
    for removal in removals {
      changes.append(
        .remove(
          offset: removal.offset, element: old[removal.offset], associatedWith: removal.destination)
      )
    }
    for insertion in insertions {
      changes.append(
        .insert(
          offset: insertion.offset, element: insertion.model, associatedWith: insertion.origin))
    }
    // Both ascend with the offsets of the updates.
    var (insertedCount, removedCount) = (0, 0)
    for update in updates {
      while insertedCount < insertions.count, insertions[insertedCount].offset < update.offset {
        insertedCount += 1
      }
      // As many rows as stand before it and were there before, and those that were taken out.
      let kept = update.offset - insertedCount
      while removedCount < removals.count,
        removals[removals.count - 1 - removedCount].offset <= kept + removedCount
      {
        removedCount += 1
      }
      let origin = kept + removedCount
      changes.append(
        .remove(offset: origin, element: old[origin], associatedWith: update.offset))
      changes.append(
        .insert(offset: update.offset, element: update.model, associatedWith: origin))
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("a difference names an offset twice")
    }
    return difference
  }
}

extension Array where Element: Sendable {
  /// Makes the next result of a watched query of the one before. Moves the rows behind a change;
  /// ``Rows`` do it at the cost of the change.
  ///
  /// - Precondition: The array is as the step before has left it.
  public mutating func apply(_ change: ResultChange<Element>) {
    switch change {
    case .initial(let models, _), .reset(let models, _): self = Array(models)
    case .update(let difference): apply(difference)
    }
  }

  /// Makes the new result of the old one. Few changes are made in place; many in one pass.
  ///
  /// - Precondition: The array is the old result.
  public mutating func apply(_ difference: ResultDifference<Element>) {
    if difference.removals.count + difference.insertions.count <= 16 {
      for removal in difference.removals { remove(at: removal.offset) }
      for insertion in difference.insertions { insert(insertion.model, at: insertion.offset) }
    } else {
      rebuild(by: difference)
    }
    for update in difference.updates { self[update.offset] = update.model }
  }

  private mutating func rebuild(by difference: ResultDifference<Element>) {
    var result: [Element] = []
    result.reserveCapacity(count - difference.removals.count + difference.insertions.count)
    var old = 0
    var removals = difference.removals.reversed().makeIterator()
    var removed = removals.next()?.offset
    func isNextKept() -> Bool {
      while old == removed {
        old += 1
        removed = removals.next()?.offset
      }
      return old < count
    }
    for insertion in difference.insertions {
      while result.count < insertion.offset, isNextKept() {
        result.append(self[old])
        old += 1
      }
      result.append(insertion.model)
    }
    while isNextKept() {
      result.append(self[old])
      old += 1
    }
    self = result
  }
}
