#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Which documents of a collection without a type, in which order, and how many of them.
///
/// ```swift
/// let query = DynamicQuery.where { $0.city == "Oslo" && $0.geo.lat > 59 }.sorted(by: "name")
/// let documents = try store.collection("contacts").fetch(query.limit(20))
/// ```
/// It means what a ``Query`` means that says the same of a type.
public struct DynamicQuery: Hashable, Sendable {
  /// Which documents; a constant true for all of them.
  public var filter = DynamicFilter.constant(true)
  /// The text that is searched for; nil for no search.
  public var search: DynamicSearch?
  /// The order. If it is empty, a search gives the best first, and any other query goes by the keys. Documents
  /// that tie come in the order of their keys.
  public var order: [Order] = []
  /// How many documents at most; nil for all.
  public var maximumCount: Int?
  /// How many documents are left out first.
  public var skippedCount = 0

  /// One level of an order: nil comes first and NaN last, or the other way round.
  public struct Order: Hashable, Sendable {
    /// The field that is compared.
    public let path: FieldPath
    /// Whether the largest values come first.
    public let isReversed: Bool

    /// An order by a field.
    public init(_ path: FieldPath, isReversed: Bool = false) {
      self.path = path
      self.isReversed = isReversed
    }
  }

  /// Every document.
  public init() {}

  /// The documents that `filter` holds for.
  public init(where filter: DynamicFilter) { self.filter = filter }

  /// The documents that `condition` holds for.
  public static func `where`(_ condition: (DynamicFields) -> DynamicFilter) -> Self {
    Self(where: condition(DynamicFields()))
  }

  /// Sorted by a field of the document, behind what it is sorted by already.
  public func sorted(by name: String, isReversed: Bool = false) -> Self {
    sorted(by: FieldPath(field: name), isReversed: isReversed)
  }

  /// Sorted by a field, behind what it is sorted by already.
  public func sorted(by path: FieldPath, isReversed: Bool = false) -> Self {
    var query = self
    query.order.append(Order(path, isReversed: isReversed))
    return query
  }

  /// At most `count` documents.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.maximumCount = min(max(0, count), maximumCount ?? .max)
    return query
  }

  /// Without the first `count` documents.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.skippedCount = max(0, count)
    return query
  }
}

/// A query that asks something of a field which the collection does not have, or whose kind has
/// no answer.
public struct DynamicQueryError: Error, Equatable, Sendable {
  /// What of a condition is refused.
  public enum Part: Equatable, Sendable {
    /// A name of the path, counted from 0.
    case name(Int)
    case comparison
    /// A value that the field is compared with, counted from 0.
    case operand(Int)
    /// The tokenizer of the search index, which this process does not have.
    case tokenizer
  }

  /// The name of the collection that was asked.
  public let collection: String
  /// The field that the condition names.
  public let path: FieldPath
  /// What of the condition is refused.
  public let part: Part
  /// What stands there.
  public let found: String
  /// What could stand there.
  public let expected: String
  /// The names that could stand in place of an unknown one.
  public let knownNames: [String]
}

extension DynamicQueryError {
  /// A name on the way to a field that the collection does not have.
  package init(
    collection: String, path: FieldPath, unknownName level: Int, knownNames: [String]
  ) {
    self.init(
      collection: collection, path: path, part: .name(level), found: "no field of this name",
      expected: "one that the collection has", knownNames: knownNames)
  }
}

extension DynamicQueryError: CustomStringConvertible {
  public var description: String {
    "In a query of \(collection), at `\(path)`: found \(found), expected \(expected)."
  }
}

extension DynamicQueryError: LocalizedError {
  public var errorDescription: String? { description }
}
