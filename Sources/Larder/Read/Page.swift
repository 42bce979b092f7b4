/// A part of a query's results, and where the next part begins.
///
/// ```swift
/// var page = try contacts.page(query.limit(50))
/// while let next = page.next {
///   page = try contacts.page(query.limit(50), after: next)
/// }
/// ```
public struct Page<Model: Sendable>: Sendable {
  /// At most as many as the query's limit.
  public let models: [Model]
  /// What ``Repository/page(_:after:)`` takes for the page behind this one; nil where there was none
  /// when this page was read.
  public let next: PageCursor?

  /// Models, and where the next page begins; nil at the end.
  public init(models: [Model], next: PageCursor?) {
    self.models = models
    self.next = next
  }
}

extension Page: Equatable where Model: Equatable {}

extension Query {
  /// What comes behind a cursor in this query's order: the same query, continued.
  ///
  /// - Throws: ``StoreError/cursorRefused(collection:reason:)`` for a cursor of a query with another
  ///   filter or order. Of properties that are computed, and of predicates, it is not known whether
  ///   they are the same.
  public func after(_ cursor: PageCursor) throws(StoreError) -> Self {
    var query = self
    let (_, rest) = selection.filter.splitAtPosition
    let (position, ranked) = try selection.position(at: cursor, in: Entity.schema.name)
    query.selection = ranked
    query.selection.filter = .all([rest, .behind(position)])
    query.selection.skipped = 0
    return query
  }
}

extension Reading where Self: ~Copyable {
  /// A page of the documents that `query` selects; its limit is the size of the page.
  ///
  /// Costs what the page costs where the order is that of the keys or of an index; otherwise each
  /// page sorts what is left. An offset holds for the first page.
  ///
  /// - Throws: ``StoreError/cursorRefused(collection:reason:)`` for a cursor of another query;
  ///   ``StoreError/damagedRecord(collection:key:reason:)``.
  public borrowing func page<Entity: Document>(
    _ query: Query<Entity>, after cursor: PageCursor? = nil
  ) throws -> Page<Entity> {
    try withMoment { try $0.page(query, after: cursor, .documents) }
  }

  /// A page of the domain models of the entities that `query` selects. Entities without a model are
  /// left out before the page is cut.
  ///
  /// - Throws: As ``page(_:after:)``.
  public borrowing func page<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, after cursor: PageCursor? = nil, mappedBy mapper: Mapper
  ) throws -> Page<Mapper.Model> {
    try withMoment { try $0.page(query, after: cursor, .mapped(by: mapper)) }
  }
}

extension Moment {
  borrowing func page<Model, Entity>(
    _ query: Query<Entity>, after cursor: PageCursor?, _ form: ModelForm<Model, Entity>
  ) throws -> Page<Model> {
    let query = try cursor.map { try query.after($0) } ?? query
    let form = form.skipping(query.selection.unreadable)
    var builder = PageBuilder<Model>(query.selection)
    let filter = query.selection.interest
    guard builder.limit > 0, let binding = try binding(of: form, matching: filter) else {
      return Page(models: [], next: nil)
    }
    let execution = try transaction.execution(of: query.selection, binding)
    builder.selection = execution.selection
    let values = Evaluation(
      .constant(true), order: execution.selection.order, in: binding.collection)
    try execution.forEach(in: transaction, wanted: form.isWhole ? builder.wanted : .max) {
      key, record in
      if try form.skips(record, key: key, binding) { return true }
      return try binding.reading(record, key: key) { record in
        if form.isWhole, builder.isFull || builder.isSkipping { return builder.pass() }
        guard let model = try form.model(record) else { return true }
        if builder.isFull || builder.isSkipping { return builder.pass() }
        builder.models.append(model)
        if builder.isFull { builder.last = (try values.sortValues(record), Array(key)) }
        return true
      }
    }
    return builder.page(in: Entity.schema.name)
  }
}

/// A page that is being filled.
struct PageBuilder<Model: Sendable> {
  var selection: Selection
  let limit: Int
  private var skipped = 0
  private var hasMore = false
  var models: [Model] = []
  /// What the last model of a full page was sorted by, and its key.
  var last: (values: [Value], key: [UInt8])?

  init(_ selection: Selection) {
    self.selection = selection
    limit = selection.maximum ?? .max
  }

  var isFull: Bool { models.count == limit }
  var isSkipping: Bool { skipped < selection.skipped }

  /// Passes over a model that is not on the page; false where that was the first behind it.
  mutating func pass() -> Bool {
    if isFull {
      hasMore = true
      return false
    }
    skipped += 1
    return true
  }

  /// How many documents decide the page: one more than it has, which says whether there is another.
  var wanted: Int {
    let last = limit.addingReportingOverflow(selection.skipped)
    let next = last.partialValue.addingReportingOverflow(1)
    return last.overflow || next.overflow ? .max : next.partialValue
  }

  func page(in collection: String) -> Page<Model> {
    guard hasMore, let last else { return Page(models: models, next: nil) }
    return Page(
      models: models,
      next: PageCursor(
        fingerprint: selection.fingerprint(collection),
        values: last.values + selection.rankValues, key: last.key))
  }
}
