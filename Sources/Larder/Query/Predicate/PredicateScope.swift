#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a predicate's variables stand for where a part of it is turned into a condition.
struct PredicateScope {
  enum Base {
    case document
    /// A stored value: a field, or an element.
    case stored([FieldStep])
  }

  var variables: [PredicateExpressions.VariableID: Base]
  let pathOfDocument: (AnyKeyPath) -> [FieldStep]?
  /// Leaves a part to the predicate; nil where a part that cannot be turned into a condition makes
  /// the whole around it one.
  var computed: ((any StandardPredicateExpression<Bool>) -> FilterNode)?

  /// The condition that a predicate is.
  func condition(_ expression: any StandardPredicateExpression<Bool>) -> FilterNode {
    if let node = lowered(expression) { return node }
    return computed?(expression) ?? .constant(false)  // A predicate's own scope has this.
  }

  /// The condition that a part is; nil where it cannot be one.
  func lowered(_ expression: some PredicateExpression<Bool>) -> FilterNode? {
    if let constant = constant(expression) { return .constant(constant) }
    if let part = expression as? any PredicateCondition, let node = part.condition(in: self) {
      return node
    }
    guard let computed, let part = expression as? any StandardPredicateExpression<Bool> else {
      return nil
    }
    return computed(part)
  }

  /// With a variable that stands for the stored value at `path`.
  func adding(_ variable: PredicateExpressions.VariableID, _ path: [FieldStep]) -> PredicateScope {
    var scope = self
    scope.variables[variable] = .stored(path)
    return scope
  }

  /// With no other variable than one that stands for the stored value at `path`.
  func only(_ variable: PredicateExpressions.VariableID, _ path: [FieldStep]) -> PredicateScope {
    var scope = self
    scope.variables = [variable: .stored(path)]
    return scope
  }

  /// For a condition on elements of `kind`: only what it says of them can be asked of them.
  func element(
    _ variable: PredicateExpressions.VariableID, _ kind: Kind<SchemaReference>
  ) -> PredicateScope {
    var scope = only(variable, [.element(kind)])
    scope.computed = nil
    return scope
  }
}

/// A part of a predicate that says yes or no.
protocol PredicateCondition {
  /// Nil where it cannot be a condition.
  func condition(in scope: PredicateScope) -> FilterNode?
}

/// A part of a predicate that conditions can compare.
protocol PredicateOperand {
  /// Nil where it is nothing stored.
  func operand(in scope: PredicateScope) -> PredicateValue?
}

/// What a comparison in a predicate has on one side.
enum PredicateValue {
  case stored(Operand)
  /// A stored value, or another one where it is nil.
  case coalesced(Operand, Value)
  case constant(Value)

  /// The way down to a field, where it is one.
  var path: [FieldStep]? { if case .stored(.field(let path)) = self { path } else { nil } }

  /// The condition that this compares so.
  func test(_ comparison: Comparison) -> FilterNode? {
    switch self {
    case .constant: nil
    case .stored(let operand): .test(operand, comparison)
    case .coalesced(let operand, let other):
      .any([
        .all([.not(.test(operand, .equal(.null))), .test(operand, comparison)]),
        .all([
          .test(operand, .equal(.null)),
          .constant(comparison.holds(for: other)),
        ]),
      ])
    }
  }
}

extension PredicateScope {
  /// One side of a comparison; nil where only the predicate can tell it.
  func value<Part: PredicateExpression>(_ part: Part) -> PredicateValue? {
    if let constant = constant(part) {
      return storedValue(of: constant).map(PredicateValue.constant)
    }
    return (part as? any PredicateOperand)?.operand(in: self)
  }
}

/// A part of a predicate that may name no variable.
///
/// Just to evaluate it without any would not do: one of an optional type that is unbound is nil.
protocol PredicateConstant {
  var namesNoVariable: Bool { get }
}

/// The value of a part in which no document occurs; nil for others, and where it has none: then it
/// fails for each document.
func constant<Part: PredicateExpression>(_ part: Part) -> Part.Output? {
  guard namesNoVariable(part) else { return nil }
  return try? part.evaluate(PredicateBindings())  // What it throws it throws when it is asked.
}

private func namesNoVariable(_ part: some PredicateExpression) -> Bool {
  (part as? any PredicateConstant)?.namesNoVariable ?? false
}

extension PredicateExpressions.Value: PredicateConstant {
  var namesNoVariable: Bool { true }
}

extension PredicateExpressions.NilLiteral: PredicateConstant {
  var namesNoVariable: Bool { true }
}

extension PredicateExpressions.KeyPath: PredicateConstant {
  var namesNoVariable: Bool { Larder.namesNoVariable(root) }
}

extension PredicateExpressions.UnaryMinus: PredicateConstant {
  var namesNoVariable: Bool { Larder.namesNoVariable(wrapped) }
}

extension PredicateExpressions.Arithmetic: PredicateConstant {
  var namesNoVariable: Bool { Larder.namesNoVariable(lhs) && Larder.namesNoVariable(rhs) }
}

extension PredicateExpressions.Range: PredicateConstant {
  var namesNoVariable: Bool { Larder.namesNoVariable(lower) && Larder.namesNoVariable(upper) }
}

extension PredicateExpressions.ClosedRange: PredicateConstant {
  var namesNoVariable: Bool { Larder.namesNoVariable(lower) && Larder.namesNoVariable(upper) }
}

/// How a constant of a predicate is stored; nil for types that conditions do not compare.
func storedValue<Output>(of value: Output) -> Value? {
  func asField<Field: FieldValue>(_: Field.Type) -> Value? { (value as? Field)?.stored }
  func asRaw<Raw: RawRepresentable>(_: Raw.Type) -> Value? {
    ((value as? Raw)?.rawValue as? any Comparand).map { Value(storing: $0) }
  }
  func asOptional<Maybe: ComparedOptional>(_: Maybe.Type) -> Value? {
    (value as? Maybe)?.storedIfSome
  }
  if let type = Output.self as? any FieldValue.Type { return asField(type) }
  if let type = Output.self as? any ComparedOptional.Type { return asOptional(type) }
  if let type = Output.self as? any RawRepresentable.Type { return asRaw(type) }
  return nil
}

/// Any optional.
protocol ComparedOptional {
  static var wrappedType: Any.Type { get }
  /// Null for nil; nil where it holds what conditions do not compare.
  var storedIfSome: Value? { get }
}

extension Optional: ComparedOptional {
  static var wrappedType: Any.Type { Wrapped.self }
  var storedIfSome: Value? {
    guard let self else { return .null }
    return isOptional(Wrapped.self) ? nil : storedValue(of: self)
  }
}

/// Whether values of `type` may be nil. Where they are in an optional themselves, conditions know of it only
/// whether it is nil: what it holds is stored with a mark of its level.
func isOptional(_ type: Any.Type) -> Bool { type is any ComparedOptional.Type }

/// Whether conditions compare values of `type` for equality: scalars, enums and structs with such a raw value,
/// and optionals of these.
func isCompared(_ type: Any.Type) -> Bool {
  if type is any FieldValue.Type { return true }
  if let type = type as? any ComparedOptional.Type {
    return !isOptional(type.wrappedType) && isCompared(type.wrappedType)
  }
  func raw<Raw: RawRepresentable>(_: Raw.Type) -> Bool { Raw.RawValue.self is any Comparand.Type }
  if let type = type as? any RawRepresentable.Type { return raw(type) }
  return false
}
