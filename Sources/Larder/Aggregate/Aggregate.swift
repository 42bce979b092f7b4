internal import LarderLMDB

/// Something that is made of all documents of a query together, such as a sum.
///
/// ```swift
/// let total = try contacts.sum(\.order, of: Contact.where { $0.city == "Oslo" })
/// let perCity = try contacts.counts(by: \.city)
/// ```
/// Made from one moment and from the stored fields: documents are not decoded, and where an index
/// has the field and settles the filter, minima, maxima, distinct values, counts and keys are read
/// from it alone. Of a query with a limit or an offset, what it selects counts; otherwise its order
/// does not matter. Nil counts for nothing, but is a value among distinct ones and groups.
public struct Aggregate<Entity: Document, Result>: Sendable {
  /// Lends the documents one after the other until the body says false.
  typealias Rows = (
    (_ key: UnsafeRawBufferPointer, _ record: borrowing RecordReader) throws -> Bool
  ) throws -> Void

  /// Made from the records that a selection selects.
  let fromRecords: @Sendable (Collection, Rows) throws -> Result
  /// Made from an index; nil where none can tell.
  let fromIndex: @Sendable (borrowing Moment, Selection, CollectionBinding) throws -> Result?

  /// Made from the records by several threads; nil where one has to do.
  let fromParts: FromParts

  /// Begins one that follows changes; nil where all records are needed after each.
  let running: (@Sendable (Collection) -> any RunningAggregate<Result>)?

  /// Goes on from a result alone; nil where that does not tell enough.
  let resumed: (@Sendable (Result) -> any RunningAggregate<Result>)?

  /// Whether the result has the query's order.
  let hasOrder: Bool

  typealias FromIndex =
    @Sendable (borrowing Moment, Selection, CollectionBinding) throws -> Result?
  typealias FromParts = @Sendable (borrowing LentTransaction, Execution) throws -> Result?

  /// One that looks at all records each time, in the query's order.
  init(
    inOrderFromIndex fromIndex: @escaping FromIndex,
    _ fromRecords: @escaping @Sendable (Collection, Rows) throws -> Result
  ) {
    self.init(
      hasOrder: true, fromIndex: fromIndex, fromParts: { _, _ in nil },
      fromRecords: fromRecords, running: nil, resumed: nil)
  }

  /// One that looks at all records each time, in whatever order.
  init<Partial: PartialAggregate & SendableMetatype>(
    inParts begin: @escaping @Sendable (Collection) -> Partial, fromIndex: @escaping FromIndex
  ) where Partial.Result == Result {
    self.init(begin, fromIndex: fromIndex, running: nil, resumed: nil)
  }

  /// One that can follow changes.
  init<Running: RunningAggregate & SendableMetatype>(
    fromIndex: @escaping FromIndex = { _, _, _ in nil },
    _ begin: @escaping @Sendable (Collection) -> Running,
    resumed: (@Sendable (Result) -> any RunningAggregate<Result>)? = nil
  ) where Running.Result == Result {
    self.init(begin, fromIndex: fromIndex, running: { begin($0) }, resumed: resumed)
  }

  private init<Partial: PartialAggregate & SendableMetatype>(
    _ begin: @escaping @Sendable (Collection) -> Partial, fromIndex: @escaping FromIndex,
    running: (@Sendable (Collection) -> any RunningAggregate<Result>)?,
    resumed: (@Sendable (Result) -> any RunningAggregate<Result>)?
  ) where Partial.Result == Result {
    self.init(
      hasOrder: false, fromIndex: fromIndex,
      fromParts: { transaction, execution in
        let collection = execution.binding.collection
        do {
          let parts = try execution.inParts(transaction) { part in
            var partial = begin(collection)
            var count = 0
            try part.forEachRecord { record in
              try partial.add(record)
              count += 1
              if count.isMultiple(of: 256) { try partial.checkDivides() }
            }
            try partial.checkDivides()
            return partial
          }
          guard var whole = parts?.first, let others = parts?.dropFirst() else { return nil }
          for other in others { try whole.add(contentsOf: other) }
          try whole.checkDivides()
          return try whole.result()
        } catch is DoesNotDivide {
          return nil
        }
      },
      fromRecords: { collection, rows in
        var partial = begin(collection)
        try rows { _, record in
          try partial.add(record)
          return true
        }
        return try partial.result()
      },
      running: running, resumed: resumed)
  }

  private init(
    hasOrder: Bool, fromIndex: @escaping FromIndex, fromParts: @escaping FromParts,
    fromRecords: @escaping @Sendable (Collection, Rows) throws -> Result,
    running: (@Sendable (Collection) -> any RunningAggregate<Result>)?,
    resumed: (@Sendable (Result) -> any RunningAggregate<Result>)?
  ) {
    self.hasOrder = hasOrder
    self.fromIndex = fromIndex
    self.fromParts = fromParts
    self.fromRecords = fromRecords
    self.running = running
    self.resumed = resumed
  }

  /// What has to be read of a query.
  func selection(of query: Query<Entity>) -> Selection {
    hasOrder ? query.selection : query.selection.withoutIdleOrder
  }

  /// What becomes of the result.
  func map<Other>(_ change: @escaping @Sendable (Result) -> Other) -> Aggregate<Entity, Other> {
    var begin: (@Sendable (Collection) -> any RunningAggregate<Other>)?
    if let running { begin = { running($0).map(change) } }
    return Aggregate<Entity, Other>(
      hasOrder: hasOrder,
      fromIndex: { try self.fromIndex($0, $1, $2).map(change) },
      fromParts: { try self.fromParts($0, $1).map(change) },
      fromRecords: { change(try self.fromRecords($0, $1)) },
      running: begin, resumed: nil)
  }
}

/// Values of documents that have the same value in a field.
public struct ValueGroup<Key: Sendable, Value: Sendable>: Sendable {
  /// What they have in common.
  public let key: Key
  /// What was computed for the group.
  public let value: Value
}

extension ValueGroup: Equatable where Key: Equatable, Value: Equatable {}

extension Reading where Self: ~Copyable {
  /// What an aggregate makes of the documents that `query` selects.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)`` when a
  ///   field cannot be read; what the aggregate itself throws.
  public borrowing func aggregate<Entity: Document, Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) throws -> Result {
    try withMoment { try $0.aggregate(aggregate, of: query, .documents) }
  }
}

extension Moment {
  /// An aggregate of the entities that have a model.
  borrowing func aggregate<Model, Entity, Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    _ form: ModelForm<Model, Entity>
  ) throws -> Result {
    let selection = aggregate.selection(of: query)
    let form = form.skipping(selection.unreadable)
    try selection.checkDepth()
    guard let binding = try binding(of: form, matching: selection.interest) else {
      return try aggregate.ofNothing()
    }
    if form.isWhole, let result = try aggregate.fromIndex(self, selection, binding) {
      return result
    }
    let execution = try transaction.execution(of: selection, binding)
    if form.isWhole, selection.maximum == nil, selection.skipped == 0,
      let result = try aggregate.fromParts(transaction, execution)
    {
      return result
    }
    return try aggregate.fromRecords(binding.collection) { body in
      try forEachRecord(selection, execution, form, body)
    }
  }

  /// Lends the records with a model that a selection selects, until `body` says false.
  borrowing func forEachRecord<Model, Entity>(
    _ selection: Selection, _ execution: Execution, _ form: ModelForm<Model, Entity>,
    _ body: (UnsafeRawBufferPointer, borrowing RecordReader) throws -> Bool
  ) throws {
    let binding = execution.binding
    if form.isWhole, selection.maximum == nil, selection.skipped == 0 {
      // All count, so that nothing has to be asked of each, which takes a third of a sum's time.
      return try execution.forEach(in: transaction) { key, record in
        try binding.reading(record, key: key) { try body(key, $0) }
      }
    }
    try forEachSelected(
      selection, execution, unless: { try form.skips($1, key: $0, binding) },
      as: { try form.counts($0) ? () : nil }
    ) { key, record, _ in
      try body(key, record)
    }
  }
}

/// Parts of an aggregate that are not put together: it would be another one, or take too much memory.
private struct DoesNotDivide: Error {}

extension PartialAggregate {
  fileprivate func checkDivides() throws {
    if dependsOnOrder || isLarge { throw DoesNotDivide() }
  }
}

extension Aggregate {
  func ofNothing() throws -> Result { try fromRecords(CollectionBinding.none.collection) { _ in } }
}

extension Selection {
  /// Without an order that does not decide what is selected.
  var withoutIdleOrder: Selection {
    guard maximum == nil, skipped == 0 else { return self }
    var selection = self
    selection.order = []
    return selection
  }
}
