public import Larder

/// The rules of the fields of a collection; fields without one have `MergeRule.lastWriter`.
///
/// Those of a type come from `@Merge` in front of its properties, and need not be repeated here. What is given
/// here goes before them.
public struct MergeRules: Sendable, ExpressibleByDictionaryLiteral {
  private var rules: [String: MergeRule]
  /// The type's own.
  private var schema: AnySchema?

  /// - Parameter rules: By the names that fields are stored under. A name with dots is that of a field of
  ///   embedded documents.
  public init(_ rules: [String: MergeRule] = [:]) { self.rules = rules }

  public init(dictionaryLiteral elements: (String, MergeRule)...) {
    rules = Dictionary(elements, uniquingKeysWith: { $1 })
  }

  /// These rules, and behind them those of a type.
  func over(_ schema: AnySchema) -> MergeRules {
    var rules = self
    rules.schema = schema
    return rules
  }

  /// Whether equal documents may have to be merged all the same.
  var hasCounters: Bool {
    rules.values.contains(where: \.isCounter)
      || schema?.hasMergeRule(where: \.isCounter) == true
  }

  func rule(_ path: [String]) -> MergeRule {
    rules[path.joined(separator: ".")] ?? field(path)?.mergeRule ?? .lastWriter
  }

  /// What the type says of a field; nil for one that it does not know.
  func field(_ path: [String]) -> FieldDescription? { schema?.mergedField(at: path) }
}

extension MergeRule {
  fileprivate var isCounter: Bool { if case .counter = self { true } else { false } }
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

/// A rule that could not merge a field.
struct MergeFailure: Error {
  /// The names down to the field.
  let field: String
  let reason: String
}
