/// A condition on documents without a type: what the operators on ``DynamicField`` make.
///
/// It means what the same condition means on a type: values are compared as Swift compares them.
/// A field that a document lacks is nil, for only a type knows of defaults; one that its type
/// requires is damage, as it is to the type.
///
/// A condition may nest 100 levels deep, where a chain of `&&`, or one of `||`, is one level. A query
/// with a deeper one throws ``StoreError/queryTooDeep(limit:)`` wherever it is used.
public struct DynamicFilter: Hashable, Sendable {
  /// What the condition is, to be looked at.
  public let form: Form
  /// Levels of it.
  private let depth: Int

  /// One condition, and those that it is made of.
  public indirect enum Form: Hashable, Sendable {
    case constant(Bool)
    /// Whether all of them hold.
    case all([DynamicFilter])
    /// Whether one of them holds.
    case any([DynamicFilter])
    case not(DynamicFilter)
    case test(FieldPath, Comparison)
    /// Stands for a condition of more than 100 levels. It is refused wherever it is used: whatever
    /// looks at one, and the end of it, too, goes down with it.
    case tooDeep
  }

  private init(_ form: Form, of parts: [DynamicFilter] = []) {
    depth = min(1 + (parts.lazy.map(\.depth).max() ?? 0), Filter<Void>.maximumDepth + 1)
    self.form = depth > Filter<Void>.maximumDepth ? .tooDeep : form
  }

  /// A condition that all documents meet, or none.
  public static func constant(_ value: Bool) -> Self { Self(.constant(value)) }
  /// Whether all of them hold.
  public static func all(_ parts: [DynamicFilter]) -> Self { Self(.all(parts), of: parts) }
  /// Whether one of them holds.
  public static func any(_ parts: [DynamicFilter]) -> Self { Self(.any(parts), of: parts) }
  /// A condition that holds where another does not.
  public static func not(_ part: DynamicFilter) -> Self { Self(.not(part), of: [part]) }
  /// A condition on one field.
  public static func test(_ path: FieldPath, _ comparison: Comparison) -> Self {
    Self(.test(path, comparison))
  }

  /// What a field is compared with. Text is coerced to the kind of a field of dates, UUIDs,
  /// URLs, decimals or data; numbers of different kinds are compared by value, but a field of floats is compared with
  /// the nearest float.
  public enum Comparison: Hashable, Sendable {
    case equal(Value)
    case less(Value)
    case lessOrEqual(Value)
    case greater(Value)
    case greaterOrEqual(Value)
    /// One of the values, of which none is nil.
    case isIn([Value])
    /// Text with this text in it, or an array or set with this element.
    case contains(Value)
    case hasPrefix(String)
    case hasSuffix(String)
  }

  public static func && (left: Self, right: Self) -> Self {
    if case .all(let parts) = left.form { .all(parts + [right]) } else { .all([left, right]) }
  }

  public static func || (left: Self, right: Self) -> Self {
    if case .any(let parts) = left.form { .any(parts + [right]) } else { .any([left, right]) }
  }

  public static prefix func ! (filter: Self) -> Self {
    if case .not(let part) = filter.form { part } else { .not(filter) }
  }
}

/// The fields of documents without a type, as a condition's closure names them: `$0.city`, or
/// `$0["city"]` for any name.
@dynamicMemberLookup
public struct DynamicFields: Sendable {
  /// The fields of any document, by name.
  public init() {}

  /// The field of this name.
  public subscript(dynamicMember name: String) -> DynamicField { self[name] }

  /// The field of this name, which may be one that is no Swift identifier.
  public subscript(name: String) -> DynamicField { DynamicField(path: FieldPath(field: name)) }
}

/// One field in a condition on documents without a type.
@dynamicMemberLookup
public struct DynamicField: Sendable {
  private let fieldPath: FieldPath

  init(path: FieldPath) { fieldPath = path }

  /// A field of an embedded document.
  public subscript(dynamicMember name: String) -> DynamicField { self[name] }

  /// A field of an embedded document.
  public subscript(name: String) -> DynamicField { DynamicField(path: fieldPath.appending(name)) }

  private func test(_ comparison: DynamicFilter.Comparison) -> DynamicFilter {
    .test(fieldPath, comparison)
  }

  /// With `.null` whether the field is nil.
  public static func == (field: Self, value: Value) -> DynamicFilter { field.test(.equal(value)) }
  public static func != (field: Self, value: Value) -> DynamicFilter { !(field == value) }
  public static func < (field: Self, value: Value) -> DynamicFilter { field.test(.less(value)) }
  public static func <= (field: Self, value: Value) -> DynamicFilter {
    field.test(.lessOrEqual(value))
  }
  public static func > (field: Self, value: Value) -> DynamicFilter { field.test(.greater(value)) }
  public static func >= (field: Self, value: Value) -> DynamicFilter {
    field.test(.greaterOrEqual(value))
  }

  /// Whether the field is one of `values`; nil is none of them.
  public func isIn(_ values: [Value]) -> DynamicFilter { test(.isIn(values)) }

  /// Whether there is such an element in an array or set, or such text in a text.
  public func contains(_ value: Value) -> DynamicFilter { test(.contains(value)) }
  /// Whether the field is a text that begins with this one.
  public func hasPrefix(_ text: String) -> DynamicFilter { test(.hasPrefix(text)) }
  /// Whether the field is a text that ends with this one.
  public func hasSuffix(_ text: String) -> DynamicFilter { test(.hasSuffix(text)) }
}

extension DynamicFilter: CustomStringConvertible {
  /// The condition as `larder query --where` reads it.
  public var description: String {
    switch form {
    case .constant(let value): "\(value)"
    case .all(let parts): Self.list(parts, between: "&&", none: "true")
    case .any(let parts): Self.list(parts, between: "||", none: "false")
    case .not(let part):
      if case .test(let path, .equal(let value)) = part.form {
        "\(path) != \(value.literal)"
      } else {
        "!\(part.nested)"
      }
    case .test(let path, let comparison): "\(path) \(comparison)"
    case .tooDeep: "<conditions nested too deep>"
    }
  }

  private static func list(_ parts: [Self], between sign: String, none: String) -> String {
    if parts.count == 1 { return parts[0].description }
    return parts.isEmpty ? none : parts.map(\.nested).joined(separator: " \(sign) ")
  }

  private var nested: String {
    switch form {
    case .constant: description
    default: "(\(self))"
    }
  }
}

extension DynamicFilter.Comparison: CustomStringConvertible {
  public var description: String {
    switch self {
    case .equal(let value): "== \(value.literal)"
    case .less(let value): "< \(value.literal)"
    case .lessOrEqual(let value): "<= \(value.literal)"
    case .greater(let value): "> \(value.literal)"
    case .greaterOrEqual(let value): ">= \(value.literal)"
    case .isIn(let values): "in [\(values.map(\.literal).joined(separator: ", "))]"
    case .contains(let value): "contains \(value.literal)"
    case .hasPrefix(let text): "hasPrefix \(Value.string(text).literal)"
    case .hasSuffix(let text): "hasSuffix \(Value.string(text).literal)"
    }
  }

  /// The values that it compares with, in order.
  package var operands: [Value] {
    switch self {
    case .equal(let value), .less(let value), .lessOrEqual(let value), .greater(let value),
      .greaterOrEqual(let value), .contains(let value):
      [value]
    case .isIn(let values): values
    case .hasPrefix(let text), .hasSuffix(let text): [.string(text)]
    }
  }
}

extension Value {
  fileprivate var literal: String { self == .null ? "nil" : description }
}
