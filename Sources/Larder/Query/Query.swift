/// Which documents of a collection, in which order, and how many of them.
///
/// ```swift
/// let query = Contact.where { $0.city == "Oslo" && $0.order < 5 }.sorted(by: \.name).limit(20)
/// ```
/// A query means what Swift means: what `filter` and `sorted` with the same closures would give
/// on all documents in the order of their keys, where ties stay in that order. A value; the
/// same query fetches, counts, deletes and watches.
public struct Query<Entity: Document>: Sendable, Equatable {
  @usableFromInline var selection = Selection()

  /// The documents of this query that `condition` also holds for. Comes before order and limit,
  /// wherever it is written.
  public func `where`(_ condition: (Fields<Entity>) -> Filter<Entity>) -> Self {
    var query = self
    query.selection.filter = .all([selection.filter, condition(Fields()).node])
    return query
  }

  /// The documents of this query whose field is true as well.
  public func `where`(_ condition: (Fields<Entity>) -> QueryField<Entity, Bool>) -> Self {
    self.where { condition($0) == true }
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition names a field of the document, as in `where { $0.age > 18 }`. For one that depends on other values \
      alone, use `all` where it holds
      """
  )
  public func `where`(_ condition: (Fields<Entity>) -> Bool) -> Self {
    fatalError("unavailable")
  }

  /// At most `count` documents.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.selection.maximum = min(max(0, count), selection.maximum ?? .max)
    return query
  }

  /// Without the first `count` documents.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.selection.skipped = max(0, count)
    return query
  }
}

extension Query {
  /// The documents of this query that can be read. The others are reported and left out, before
  /// limit and offset, instead of being the error that ends the whole read.
  ///
  /// ```swift
  /// let tickets = try repository.fetch(
  ///   Ticket.all.skippingUnreadable { log.warning("\($0)") })
  /// ```
  /// For documents that a newer version of the app has stored, with a case of an enum that this
  /// version does not know (``UnreadableDocument/isFromNewerVersion``), and for damaged records.
  /// It holds for everything that reads models: fetches, pages, counts, aggregates and watched
  /// queries. All of these decode each document that the filter matches, counts and aggregates too,
  /// so that they agree with what is fetched. `delete` and `clearBeforeSaving` heed it not: they
  /// delete what the filter matches, whether it can be read or not.
  ///
  /// - Parameter report: Called on the reading thread, inside the read: it must not use the store.
  ///   A watched query reports a document each time that it meets it.
  public func skippingUnreadable(
    _ report: @escaping @Sendable (UnreadableDocument) -> Void
  ) -> Self {
    var query = self
    query.selection.unreadable = UnreadableHandler(report: report)
    return query
  }
}

extension Document {
  /// Every document of the collection.
  public static var all: Query<Self> { Query() }

  /// The documents that `condition` holds for: `Contact.where { $0.city == "Oslo" }`.
  public static func `where`(_ condition: (Fields<Self>) -> Filter<Self>) -> Query<Self> {
    Query().where(condition)
  }

  /// The documents whose field is true: `Contact.where { $0.isActive }`.
  public static func `where`(
    _ condition: (Fields<Self>) -> QueryField<Self, Bool>
  ) -> Query<Self> {
    Query().where(condition)
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition names a field of the document, as in `where { $0.age > 18 }`. For one that depends on other values \
      alone, use `all` where it holds
      """
  )
  public static func `where`(_ condition: (Fields<Self>) -> Bool) -> Query<Self> {
    fatalError("unavailable")
  }
}

// The same for where the type of the documents is known already.
extension Query {
  /// Every document of the collection: `contacts.fetch(.all)`.
  public static var all: Self { Query() }

  /// The documents that `condition` holds for: `contacts.fetch(.where { $0.city == "Oslo" })`.
  public static func `where`(_ condition: (Fields<Entity>) -> Filter<Entity>) -> Self {
    Query().where(condition)
  }

  /// The documents whose field is true: `contacts.fetch(.where { $0.isActive })`.
  public static func `where`(_ condition: (Fields<Entity>) -> QueryField<Entity, Bool>) -> Self {
    Query().where(condition)
  }
}

extension Query: CustomStringConvertible {
  public var description: String { "\(Entity.schema.name) where \(selection)" }
}
