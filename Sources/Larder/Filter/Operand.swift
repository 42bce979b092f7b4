/// What a condition or an order looks at.
enum Operand: Sendable, Equatable {
  /// A stored field: the way down to it from the document.
  case field([FieldStep])
  /// What is made of a stored field's value, such as the number of its elements.
  case derived([FieldStep], Derivation)
  /// What only the decoded document can say; compared by identity.
  case computed(Computed)

  final class Computed: Sendable, Equatable {
    typealias Reading = @Sendable (ValueReader) throws(RecordError) -> Value

    private let reading: Reading
    /// What descriptions call it.
    let name: String

    /// - Parameter reading: Given a reader in front of the document, or of the element that a
    ///   condition is about.
    init(_ name: String = "computed", _ reading: @escaping Reading) {
      self.reading = reading
      self.name = name
    }

    func value(_ element: ValueReader) throws(RecordError) -> Value { try reading(element) }

    static func == (left: Computed, right: Computed) -> Bool { left === right }
  }
}

/// One name on the way down to a field.
struct FieldStep: Sendable, Equatable {
  let name: String
  /// What the type reads the field as; a record may hold a number of another width.
  let kind: Kind<SchemaReference>
  /// The value in a record that lacks the field; nil where that is an error.
  let absent: Value?

  init(name: String, kind: Kind<SchemaReference>, absent: Value?) {
    self.name = name
    self.kind = kind
    self.absent = absent
  }

  init(_ field: FieldDescription) {
    self.init(name: field.name, kind: field.kind, absent: field.absentValue)
  }

  /// The first step of the paths in a condition on elements: the element itself.
  static func element(_ kind: Kind<SchemaReference>) -> FieldStep {
    FieldStep(name: "$0", kind: kind, absent: nil)
  }

  static func == (left: FieldStep, right: FieldStep) -> Bool {
    guard left.name == right.name, left.kind == right.kind else { return false }
    switch (left.absent, right.absent) {
    case (nil, nil): return true
    case (let left?, let right?): return left.isIdentical(to: right)
    default: return false
    }
  }
}

extension Operand: CustomStringConvertible {
  var description: String {
    switch self {
    case .field(let path): path.map(\.name).joined(separator: ".")
    case .derived(let path, let derivation): "\(Operand.field(path)).\(derivation)"
    case .computed(let computed): "<\(computed.name)>"
    }
  }
}
