public import Larder

/// How a field is merged that was changed both here and on the remote.
///
/// A field that only one of the two has changed keeps that change, whatever the rule. No rule asks a
/// clock: an edit that is not sent yet comes after what the remote has.
public enum MergeRule: Sendable {
  /// The edit made here wins, because it reaches the remote later. Embedded documents are merged field by
  /// field first.
  case lastWriter
  /// Both changes of a number are added up. In a document that was made on both sides it began with 0;
  /// unless the two documents are equal, which are taken for one that was stored twice.
  case counter
  /// An array as a set: what either has added is there, and what either has removed is not.
  case set
  /// The larger one of two values: numbers, dates, text by its scalars.
  case max
  /// What the closure makes of the value that both began with (nil where there was none, or it is not
  /// known), the one here and the one there (nil where the field was removed). It is called again whenever a
  /// merge is, so that it should depend on its arguments alone.
  case custom(@Sendable (_ before: Value?, _ here: Value?, _ there: Value?) -> Value?)
}

/// The rules of the fields of a collection; fields without one have ``MergeRule/lastWriter``.
public struct MergeRules: Sendable, ExpressibleByDictionaryLiteral {
  private var rules: [String: MergeRule]

  /// - Parameter rules: By the names that fields are stored under. A name with dots is that of a field of
  ///   embedded documents.
  public init(_ rules: [String: MergeRule] = [:]) { self.rules = rules }

  public init(dictionaryLiteral elements: (String, MergeRule)...) {
    rules = Dictionary(elements, uniquingKeysWith: { $1 })
  }

  /// Whether equal documents may have to be merged all the same.
  var hasCounters: Bool { rules.values.contains { if case .counter = $0 { true } else { false } } }

  func rule(_ path: [String]) -> MergeRule? { rules[path.joined(separator: ".")] }
}

/// What becomes of a document that was changed on one side and deleted on the other.
public enum DeletionPolicy: Sendable {
  /// The change wins, and the document stays or comes back: no edit is lost.
  case editWins
  /// The deletion wins.
  case deletionWins
  /// Somebody is asked: it becomes a conflict.
  case ask
}
