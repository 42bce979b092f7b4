#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Which documents of a type go by themselves, so that its collection does not grow for ever.
///
/// ```swift
/// static let ageing: [Ageing<Article>] = [
///   .expires(after: .seconds(30 * 86_400), since: \.fetchedAt),
///   .keepNewest(10_000, by: \.fetchedAt),
/// ]
/// ```
/// A document goes as soon as one of the rules says so: a few at a time inside later saves of the
/// type, or all of them with ``Store/evict(_:asOf:progress:)``. The rules belong to the program and
/// are not stored: whoever saves the type, or evicts it, goes by its own. Each rule makes an index
/// on its field, so that finding what is old costs a look-up. Where no index can be used, as while documents
/// lack a field whose default is `Date()`, saves to collections of more than 1,000 documents leave it to
/// ``Store/evict(_:asOf:progress:)``.
///
/// <doc:Space> says more.
public struct Ageing<Entity: Document>: Sendable {
  let rule: AgeingRule

  /// Documents go when the date in a field is longer ago than `age`. One that was saved with an old
  /// date may go at once.
  public static func expires(
    after age: Duration, since path: KeyPath<Fields<Entity>, QueryField<Entity, Date>>
  ) -> Self {
    let field = Fields<Entity>()[keyPath: path]
    return Self(
      rule: AgeingRule(
        .age(seconds: age.seconds) { (field < $0).node },
        SortKey(operand: field.operand { .date($0) }, isReversed: false), field.storedPath))
  }

  /// Documents go when the date in a field is longer ago than `age`; those without a date stay.
  public static func expires(
    after age: Duration, since path: KeyPath<Fields<Entity>, QueryField<Entity, Date?>>
  ) -> Self {
    let field = Fields<Entity>()[keyPath: path]
    return Self(
      rule: AgeingRule(
        .age(seconds: age.seconds) { (field < $0).node },
        SortKey(operand: field.operand { $0.map { .date($0) } ?? .null }, isReversed: false),
        field.storedPath))
  }

  /// Of the collection's documents only so many stay: those whose field has the greatest values.
  /// Nil is the smallest value.
  public static func keepNewest<Value: Comparand & Comparable>(
    _ count: Int, by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self {
    Self(bound: .count(max(0, count)), Entity.all.sorted(by: path), path)
  }

  /// Of the collection's documents only so many stay; see ``keepNewest(_:by:)``.
  public static func keepNewest<Value: Comparand & Comparable>(
    _ count: Int, by path: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>
  ) -> Self {
    Self(bound: .count(max(0, count)), Entity.all.sorted(by: path), path)
  }

  /// The collection's documents take so many bytes at most, counted in pages: those go whose field
  /// has the smallest values.
  ///
  /// Pages that have become half empty count whole, so that a collection whose keys have another
  /// order than the field holds less than it could.
  public static func keepNewest<Value: Comparand & Comparable>(
    byteCount: Int, by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self {
    Self(bound: .bytes(max(0, byteCount)), Entity.all.sorted(by: path), path)
  }

  /// The collection's documents take so many bytes at most; see ``keepNewest(byteCount:by:)``.
  public static func keepNewest<Value: Comparand & Comparable>(
    byteCount: Int, by path: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>
  ) -> Self {
    Self(bound: .bytes(max(0, byteCount)), Entity.all.sorted(by: path), path)
  }

  private init(rule: AgeingRule) { self.rule = rule }

  private init<Value>(
    bound: AgeingRule.Bound, _ query: Query<Entity>,
    _ path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) {
    rule = AgeingRule(bound, query.selection.order[0], Fields()[keyPath: path].storedPath)
  }
}

extension Document {
  /// Documents stay until they are deleted.
  public static var ageing: [Ageing<Self>] { [] }
}

/// A rule without its type.
struct AgeingRule: Sendable {
  enum Bound: Sendable {
    case age(seconds: Double, before: @Sendable (Date) -> FilterNode)
    case count(Int)
    case bytes(Int)
  }

  let bound: Bound
  /// The oldest first.
  let order: SortKey
  /// The field; nil where it is computed, and nothing finds the oldest but looking at all.
  let path: [FieldStep]?

  init(_ bound: Bound, _ order: SortKey, _ path: [FieldStep]?) {
    self.bound = bound
    self.order = order
    self.path = path
  }

  /// The documents that may go, the oldest first.
  func selection(asOf now: Date) -> Selection {
    var selection = Selection()
    selection.order = [order]
    if case .age(let seconds, let before) = bound {
      selection.filter = before(now.addingTimeInterval(-seconds))
    }
    return selection
  }

  var index: IndexDeclaration? {
    path.map {
      IndexDeclaration(
        name: nil, parts: [.init(operand: $0, isDescending: false)], isUnique: false, filter: nil)
    }
  }
}
