#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A ``MergeRule`` for properties of a type, so that the compiler refuses one that makes no sense: `.counter` of
/// a text. `merged(_:by:)` of ``Field`` takes it.
public struct TypedMergeRule<Property>: Sendable {
  let rule: MergeRule

  /// ``MergeRule/lastWriter``.
  public static var lastWriter: Self { Self(rule: .lastWriter) }

  /// `MergeRule.custom`.
  public static func custom(
    _ merge:
      @escaping @Sendable (_ before: Value?, _ here: Value?, _ there: Value?) throws -> Value?
  ) -> Self {
    Self(rule: MergeRule.custom(merge))
  }
}

extension TypedMergeRule where Property: Storable & SendableMetatype {
  /// `MergeRule.custom` with values of the property's type, for closures that name it. Embedded documents, and
  /// what holds them, come as ``Value`` only: the rule throws otherwise.
  @_disfavoredOverload
  public static func custom(
    _ merge:
      @escaping @Sendable (_ before: Property?, _ here: Property?, _ there: Property?) throws ->
      Property?
  ) -> Self {
    Self(rule: MergeRule.custom(merge))
  }
}

extension TypedMergeRule {
  /// `MergeRule.custom` for a property that may be nil.
  @_disfavoredOverload
  public static func custom<Wrapped: Storable & SendableMetatype>(
    _ merge:
      @escaping @Sendable (_ before: Wrapped?, _ here: Wrapped?, _ there: Wrapped?) throws ->
      Wrapped?
  ) -> Self where Property == Wrapped? {
    Self(rule: MergeRule.custom(merge))
  }
}

extension TypedMergeRule where Property: MergeableNumber {
  /// ``MergeRule/counter``.
  public static var counter: Self { Self(rule: .counter) }
}

extension TypedMergeRule where Property: MergeableElements {
  /// ``MergeRule/set``.
  public static var set: Self { Self(rule: .set) }
}

extension TypedMergeRule where Property: MergeableOrder {
  /// ``MergeRule/max``.
  public static var max: Self { Self(rule: .max) }
}

extension TypedMergeRule
where Property: RawRepresentable & Storable, Property.RawValue: MergeableOrder {
  /// ``MergeRule/max``, by the raw values.
  public static var max: Self { Self(rule: .max) }
}

extension TypedMergeRule
where
  Property: MergeableOptional, Property.Wrapped: RawRepresentable & Storable,
  Property.Wrapped.RawValue: MergeableOrder
{
  /// ``MergeRule/max``, by the raw values; nil is less than any of them.
  public static var max: Self { Self(rule: .max) }
}

// Members that the compiler picks last: their messages say what to write instead.

extension TypedMergeRule {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      `.counter` adds up numbers: the property has to be an integer, a `Double`, a `Float` or a `Decimal`
      """
  )
  public static var counter: Self { fatalError("unavailable") }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "`.set` merges the elements of an array or of a `Set`, and the property is neither"
  )
  public static var set: Self { fatalError("unavailable") }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      `.max` takes the larger of two numbers, dates, texts or `Bool`s: write `.custom { ... }` for other types
      """
  )
  public static var max: Self { fatalError("unavailable") }
}

// MARK: Which types

/// A number that ``MergeRule/counter`` adds up. Integers, `Double`, `Float`, `Decimal` and optionals of these are;
/// no other type can be.
public protocol MergeableNumber {
  /// Proof that Larder knows how to merge it.
  static var _mergeSeal: _ComparandSeal { get }
}

/// A value that ``MergeRule/max`` compares. Numbers, `String`, `Bool`, `Date` and optionals of these are; no other
/// type can be.
public protocol MergeableOrder {
  /// Proof that Larder knows how to merge it.
  static var _mergeSeal: _ComparandSeal { get }
}

/// A collection whose elements ``MergeRule/set`` merges. Arrays, sets and optionals of these are; no other type
/// can be.
public protocol MergeableElements {
  /// Proof that Larder knows how to merge it.
  static var _mergeSeal: _ComparandSeal { get }
}

/// An optional, whose value may be one that ``MergeRule/max`` compares by its raw value. No other type can be one.
public protocol MergeableOptional {
  /// The type of the value.
  associatedtype Wrapped
  /// Proof that Larder knows how to merge it.
  static var _mergeSeal: _ComparandSeal { get }
}

extension Int: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Int64: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Int32: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Int16: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Int8: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension UInt: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension UInt64: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension UInt32: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension UInt16: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension UInt8: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Double: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Float: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Decimal: MergeableNumber, MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension String: MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Bool: MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Date: MergeableOrder {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Array: MergeableElements {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Set: MergeableElements {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

extension Optional: MergeableNumber where Wrapped: MergeableNumber {}
extension Optional: MergeableOrder where Wrapped: MergeableOrder {}
extension Optional: MergeableElements where Wrapped: MergeableElements {}
extension Optional: MergeableOptional {}

extension Optional {
  public static var _mergeSeal: _ComparandSeal { _ComparandSeal() }
}

// MARK: In a schema

extension Field {
  /// This field with a rule for merging: what `@Merge` writes. Nil counts as 0, as no elements, and as less than
  /// anything else.
  ///
  /// - Parameters:
  ///   - path: The property of the field.
  ///   - rule: How it is merged.
  public func merged<Property>(
    _ path: KeyPath<Owner, Property>, by rule: TypedMergeRule<Property>
  ) -> Self {
    merged(rule.rule)
  }

  private func merged(_ rule: MergeRule) -> Self {
    var field = self
    field.description.mergeRule = rule
    return field
  }
}
