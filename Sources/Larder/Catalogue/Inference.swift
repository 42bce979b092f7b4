/// The catalogue's tables, and the policy, that one inference of kinds goes by.
final class Inference: Sendable {
  /// The tables of the catalogue. A field that a type has declared takes whatever can be coerced to its
  /// kind, so nothing is inferred for it.
  let tables: [FieldTable]
  let policy: Policy

  init(tables: [FieldTable], _ policy: Policy) {
    self.tables = tables
    self.policy = policy
  }

  struct Policy: Sendable {
    /// Whether no number may become another one: integers beyond `Int64` make a field unsigned where
    /// none is negative, and those that no double is equal to do not stand among doubles.
    var isExact = false
    /// Whether a field whose values have two kinds takes any.
    var allowsMixed = false
    /// Whether objects whose names keep coming are dictionaries.
    var findsDictionaries = false
    /// The kinds that the caller gives to fields.
    var rules: KindRules?
  }
}

/// Kinds that fields are to have, whatever their values look like.
package final class KindRules: Sendable {
  /// The kind of what stands here, or of the elements where it is an array.
  package let kind: Kind<Int>?
  private let members: [String: KindRules]

  /// - Parameter kinds: The names of the fields down to each, and its kind.
  package convenience init(_ kinds: [(names: [String], kind: Kind<Int>)]) {
    self.init(kinds.map { ($0.names[...], $0.kind) })
  }

  private init(_ kinds: [(names: ArraySlice<String>, kind: Kind<Int>)]) {
    kind = kinds.first { $0.names.isEmpty }?.kind
    members = Dictionary(grouping: kinds.filter { !$0.names.isEmpty }) { $0.names.first ?? "" }
      .mapValues { kinds in KindRules(kinds.map { ($0.names.dropFirst(), $0.kind) }) }
  }

  /// Whether there are rules for what is inside.
  var hasMembers: Bool { !members.isEmpty }

  /// The rules for a field; nil where there are none.
  package func member(_ name: String) -> KindRules? { members[name] }
}
