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
  /// Whether `absent` is the same in each process: `Date()` and `UUID()` are not. What is kept, as an index
  /// or a cursor, does not rest on one that is not.
  let isSettled: Bool
  /// The embedded document that is the field's default, for the steps behind this one, made twice. The end
  /// of a path has no use for it, so that conditions are equal without it, and are stored without it.
  private let inside: (first: DynamicDocument, second: DynamicDocument)?

  /// - Parameter second: What is there where the record lacks the field, made once more; nil where it cannot
  ///   be another value than `absent`.
  init(name: String, kind: Kind<SchemaReference>, absent: Value?, second: Value? = nil) {
    self.name = name
    self.kind = kind
    if case .document(let first)? = absent {
      if case .document(let second)? = second {
        inside = (first, second)
      } else {
        inside = (first, first)
      }
      // Documents are not compared: that the value is not nil is all that a condition can ask.
      self.absent = .array([])
      isSettled = true
    } else {
      inside = nil
      self.absent = absent
      if let absent, let second {
        isSettled = absent.isIdentical(to: second)
      } else {
        isSettled = true
      }
    }
  }

  init(_ field: FieldDescription) {
    self.init(
      name: field.name, kind: field.kind, absent: field.absentValue,
      second: field.secondAbsentValue)
  }

  /// This step on a way that goes on to `name`, a field of the document here; nil where what the
  /// default has there cannot be said.
  fileprivate func goingOn(to name: String) -> FieldStep? {
    guard let inside else { return self }
    guard let value = inside.first[name] else { return nil }
    return FieldStep(name: self.name, kind: kind, absent: value, second: inside.second[name])
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
