#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The fields of a document type, as a condition's closure names them: `$0.city`.
@dynamicMemberLookup
public struct Fields<Entity: Document>: Sendable {
  public subscript<Value>(
    dynamicMember path: any KeyPath<Entity, Value> & Sendable
  ) -> QueryField<Entity, Value> {
    QueryField(path)
  }
}

/// One field in a condition, or a property that is computed from fields.
@dynamicMemberLookup
public struct QueryField<Entity: Document, Value>: Sendable {
  /// The stored fields down to this one; nil where it can only be computed.
  private let path: [FieldStep]?
  let value: @Sendable (Entity) -> Value

  /// The way down to the field; nil where it can only be computed.
  var storedPath: [FieldStep]? { path }

  init(_ path: any KeyPath<Entity, Value> & Sendable) {
    value = { $0[keyPath: path] }
    self.path = Entity.schema.step(to: path).map { [$0] }
  }

  init(path: [FieldStep]?, value: @escaping @Sendable (Entity) -> Value) {
    self.path = path
    self.value = value
  }

  /// A field of an embedded document: `$0.geo.lat`.
  public subscript<Inner>(
    dynamicMember inner: any KeyPath<Value, Inner> & Sendable
  ) -> QueryField<Entity, Inner> where Value: EmbeddedDocument {
    let value = value
    return QueryField<Entity, Inner>(
      path: path(adding: Value.schema.step(to: inner)), value: { value($0)[keyPath: inner] })
  }

  /// A field of an embedded document that may be nil; the field then is nil too.
  public subscript<Wrapped: EmbeddedDocument, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner> & Sendable
  ) -> QueryField<Entity, Inner?> where Value == Wrapped? {
    let value = value
    return QueryField<Entity, Inner?>(
      path: path(adding: Wrapped.schema.step(to: inner)), value: { value($0)?[keyPath: inner] })
  }

  /// A field that may be nil, of an embedded document that may be nil: one optional, as with
  /// Swift's `?.`.
  public subscript<Wrapped: EmbeddedDocument, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner?> & Sendable
  ) -> QueryField<Entity, Inner?> where Value == Wrapped? {
    let value = value
    return QueryField<Entity, Inner?>(
      path: path(adding: Wrapped.schema.step(to: inner)),
      value: { value($0).flatMap { $0[keyPath: inner] } })
  }

  private func path(adding step: FieldStep?) -> [FieldStep]? {
    guard let path, let step else { return nil }
    return path + [step]
  }

  /// What the condition looks at, given how a value is stored.
  private func operand(_ stored: @escaping @Sendable (Value) -> Larder.Value) -> Operand {
    if let path { return .field(path) }
    let value = value
    return .computed(
      Operand.Computed { (record) throws(RecordError) in stored(value(try Entity(from: record))) })
  }

  private func filter(_ operand: Operand, _ comparison: Comparison) -> Filter<Entity> {
    Filter(node: .test(operand, comparison))
  }
}

/// A value that conditions compare as Swift compares it: the scalars of the standard library and
/// of Foundation. Other types do not conform; of an embedded document compare the fields.
public protocol Comparand: Storable, Equatable, Sendable {}

extension String: Comparand {}
extension Bool: Comparand {}
extension Int: Comparand {}
extension Int64: Comparand {}
extension Int32: Comparand {}
extension Int16: Comparand {}
extension Int8: Comparand {}
extension UInt: Comparand {}
extension UInt64: Comparand {}
extension UInt32: Comparand {}
extension UInt16: Comparand {}
extension UInt8: Comparand {}
extension Double: Comparand {}
extension Float: Comparand {}
extension Data: Comparand {}
extension Date: Comparand {}
extension UUID: Comparand {}
extension URL: Comparand {}
extension Decimal: Comparand {}

// MARK: Equality

extension QueryField where Value: Comparand {
  private var operand: Operand { operand { Larder.Value(storing: $0) } }

  public static func == (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .equal(Larder.Value(storing: value)))
  }

  public static func != (field: Self, value: Value) -> Filter<Entity> { !(field == value) }

  /// Whether the field is one of `values`.
  public func isIn(_ values: some Sequence<Value>) -> Filter<Entity> {
    filter(operand, .isAny(values.map { Larder.Value(storing: $0) }))
  }
}

extension QueryField {
  private func optionalOperand<Wrapped: Comparand>() -> Operand where Value == Wrapped? {
    operand { $0.map { Larder.Value(storing: $0) } ?? .null }
  }

  public static func == <Wrapped: Comparand>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(
      field.optionalOperand(), .equal(value.map { Larder.Value(storing: $0) } ?? .null))
  }

  public static func != <Wrapped: Comparand>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped? {
    !(field == value)
  }

  /// Whether the field is one of `values`; nil is none of them.
  @_disfavoredOverload  // A range of integers is a sequence too, but not one to enumerate.
  public func isIn<Wrapped: Comparand>(
    _ values: some Sequence<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    filter(optionalOperand(), .isAny(values.map { Larder.Value(storing: $0) }))
  }

  /// Whether the field is nil.
  public func isNil<Wrapped>() -> Filter<Entity> where Value == Wrapped? {
    filter(operand { $0 == nil ? .null : .bool(true) }, .equal(.null))
  }
}

/// Whether a field of any optional type is nil.
extension QueryField {
  public static func == <Wrapped>(
    field: Self, _: _OptionalNilComparisonType
  ) -> Filter<Entity> where Value == Wrapped? {
    field.isNil()
  }

  public static func != <Wrapped>(
    field: Self, _: _OptionalNilComparisonType
  ) -> Filter<Entity> where Value == Wrapped? {
    !field.isNil()
  }
}

/// An enum is compared by its raw value.
extension QueryField
where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: Comparand {
  public static func == (field: Self, value: Value) -> Filter<Entity> {
    field.filter(
      field.operand { Larder.Value(storing: $0.rawValue) },
      .equal(Larder.Value(storing: value.rawValue)))
  }

  public static func != (field: Self, value: Value) -> Filter<Entity> { !(field == value) }

  /// Whether the field is one of `values`.
  public func isIn(_ values: some Sequence<Value>) -> Filter<Entity> {
    filter(
      operand { Larder.Value(storing: $0.rawValue) },
      .isAny(values.map { Larder.Value(storing: $0.rawValue) }))
  }
}

/// An optional enum likewise; nil is equal to nil only.
extension QueryField {
  private func optionalRawOperand<Wrapped: RawRepresentable>() -> Operand
  where Value == Wrapped?, Wrapped: Sendable, Wrapped.RawValue: Comparand {
    operand { $0.map { Larder.Value(storing: $0.rawValue) } ?? .null }
  }

  public static func == <Wrapped: RawRepresentable & Equatable & Sendable>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter(
      field.optionalRawOperand(),
      .equal(value.map { Larder.Value(storing: $0.rawValue) } ?? .null))
  }

  public static func != <Wrapped: RawRepresentable & Equatable & Sendable>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    !(field == value)
  }
}

// MARK: Order

extension QueryField where Value: Comparand & Comparable {
  public static func < (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .less(Larder.Value(storing: value)))
  }

  public static func <= (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .lessOrEqual(Larder.Value(storing: value)))
  }

  public static func > (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .greater(Larder.Value(storing: value)))
  }

  public static func >= (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .greaterOrEqual(Larder.Value(storing: value)))
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: ClosedRange<Value>) -> Filter<Entity> {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: Range<Value>) -> Filter<Entity> {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeFrom<Value>) -> Filter<Entity> {
    self >= range.lowerBound
  }

  func sortKey(_ order: SortOrder) -> SortKey {
    SortKey(operand: operand, isReversed: order == .reverse)
  }
}

/// Nil is neither below nor above anything.
extension QueryField {
  public static func < <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.optionalOperand(), .less(Larder.Value(storing: value)))
  }

  public static func <= <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.optionalOperand(), .lessOrEqual(Larder.Value(storing: value)))
  }

  public static func > <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.optionalOperand(), .greater(Larder.Value(storing: value)))
  }

  public static func >= <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.optionalOperand(), .greaterOrEqual(Larder.Value(storing: value)))
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: Range<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: PartialRangeFrom<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound
  }

  func sortKey<Wrapped: Comparand & Comparable>(
    _ order: SortOrder
  ) -> SortKey where Value == Wrapped? {
    SortKey(operand: optionalOperand(), isReversed: order == .reverse)
  }
}

// MARK: Text and elements

extension QueryField where Value == String {
  public func hasPrefix(_ prefix: String) -> Filter<Entity> {
    filter(operand { .string($0) }, .hasPrefix(prefix))
  }

  public func hasSuffix(_ suffix: String) -> Filter<Entity> {
    filter(operand { .string($0) }, .hasSuffix(suffix))
  }

  public func contains(_ text: String) -> Filter<Entity> {
    filter(operand { .string($0) }, .containsText(text))
  }
}

extension QueryField where Value == String? {
  public func hasPrefix(_ prefix: String) -> Filter<Entity> {
    filter(optionalOperand(), .hasPrefix(prefix))
  }

  public func hasSuffix(_ suffix: String) -> Filter<Entity> {
    filter(optionalOperand(), .hasSuffix(suffix))
  }

  public func contains(_ text: String) -> Filter<Entity> {
    filter(optionalOperand(), .containsText(text))
  }
}

extension QueryField {
  public func contains<Element: Comparand>(
    _ element: Element
  ) -> Filter<Entity> where Value == [Element] {
    filter(
      operand { .array($0.map { Larder.Value(storing: $0) }) },
      .containsElement(Larder.Value(storing: element)))
  }

  public func contains<Element: Comparand & Hashable>(
    _ element: Element
  ) -> Filter<Entity> where Value == Set<Element> {
    filter(
      operand { .array($0.map { Larder.Value(storing: $0) }) },
      .containsElement(Larder.Value(storing: element)))
  }
}

// MARK: Booleans

extension QueryField where Value == Bool {
  public static prefix func ! (field: Self) -> Filter<Entity> { field == false }

  public static func && (left: Self, right: Self) -> Filter<Entity> {
    left == true && right == true
  }

  public static func && (left: Self, right: Filter<Entity>) -> Filter<Entity> {
    left == true && right
  }

  public static func && (left: Filter<Entity>, right: Self) -> Filter<Entity> {
    left && right == true
  }

  public static func || (left: Self, right: Self) -> Filter<Entity> {
    left == true || right == true
  }

  public static func || (left: Self, right: Filter<Entity>) -> Filter<Entity> {
    left == true || right
  }

  public static func || (left: Filter<Entity>, right: Self) -> Filter<Entity> {
    left || right == true
  }
}
