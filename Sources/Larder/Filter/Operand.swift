/// What a condition or an order looks at.
enum Operand: Sendable, Equatable {
  /// A stored field: the way down to it from the document.
  case field([FieldStep])
  /// What is made of a stored field's value, such as the number of its elements.
  case derived([FieldStep], Derivation)
  /// What only the decoded document can say; compared by identity.
  case computed(Computed)
  /// How well a document matches a search.
  case rank(SearchRank)

  final class Computed: Sendable, Equatable {
    typealias Reading = @Sendable (ValueReader) throws(RecordError) -> Value

    private let reading: Reading
    /// What descriptions call it.
    let name: String
    /// The stored field whose values it puts in their own order, which is not that of what is stored.
    let orderedPath: [FieldStep]?

    /// - Parameter reading: Given a reader in front of the document, or of the element that a
    ///   condition is about.
    init(
      _ name: String = "computed", orderOf path: [FieldStep]? = nil, _ reading: @escaping Reading
    ) {
      self.reading = reading
      self.name = name
      orderedPath = path
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
  /// The value at the end of the path, where the record lacks this field; nil where that is an error.
  let absent: Value?
  /// The embedded document that is the field's default, for the steps behind this one. The end of a
  /// path has no use for it, so that conditions are equal without it, and are stored without it.
  private let inside: DynamicDocument?

  init(name: String, kind: Kind<SchemaReference>, absent: Value?) {
    self.name = name
    self.kind = kind
    if case .document(let document)? = absent {
      inside = document
      // Documents are not compared: that the value is not nil is all that a condition can ask.
      self.absent = .array([])
    } else {
      inside = nil
      self.absent = absent
    }
  }

  init(_ field: FieldDescription) {
    self.init(name: field.name, kind: field.kind, absent: field.absentValue)
  }

  /// This step on a way that goes on to `name`, a field of the document here; nil where what the
  /// default has there cannot be said.
  fileprivate func goingOn(to name: String) -> FieldStep? {
    guard let inside else { return self }
    guard let value = inside[name] else { return nil }
    return FieldStep(name: self.name, kind: kind, absent: value)
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

extension [FieldStep] {
  /// The way on to a field of the embedded document that this one leads to; nil where only the decoded
  /// document has it.
  func appending(_ inner: [FieldStep]) -> [FieldStep]? {
    var path: [FieldStep] = []
    for outer in self {
      var outer = outer
      for step in inner {
        guard let next = outer.goingOn(to: step.name) else { return nil }
        outer = next
      }
      path.append(outer)
    }
    return path + inner
  }
}

extension Operand: CustomStringConvertible {
  var description: String {
    switch self {
    case .field(let path): path.map(\.name).joined(separator: ".")
    case .derived(let path, let derivation): "\(Operand.field(path)).\(derivation)"
    case .computed(let computed): "<\(computed.name)>"
    case .rank: "rank"
    }
  }
}
