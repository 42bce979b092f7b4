#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that conditions compare as Swift compares it: the scalars of the standard library and
/// of Foundation. No other type can conform; of an embedded document compare the fields. Enums and
/// structs with a raw value of such a type are compared too.
public protocol Comparand: Storable, Equatable, Sendable, FieldValue where Bare == Self {
  /// Proof that Larder knows how values of this type are stored and compared.
  static var _seal: _ComparandSeal { get }
}

/// What only Larder can make, so that only its own types are ``Comparand``s.
@_documentation(visibility: internal)
public struct _ComparandSeal: Sendable {
  init() {}
}

/// What stands on either side when two fields are compared: a ``Comparand``, or an optional one.
@_documentation(visibility: internal)
public protocol FieldValue: SendableMetatype {
  /// The type without its optional.
  associatedtype Bare: Comparand
  /// The value; nil where it is nil.
  var _bare: Bare? { get }
}

extension Comparand {
  public var _bare: Self? { self }
}

extension Optional: FieldValue where Wrapped: Comparand {
  public var _bare: Wrapped? { self }
}

extension FieldValue {
  var stored: Value { _bare.map { Value(storing: $0) } ?? .null }
}

extension String: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Bool: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Int: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Int64: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Int32: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Int16: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Int8: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UInt: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UInt64: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UInt32: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UInt16: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UInt8: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Double: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Float: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Data: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Date: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension UUID: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension URL: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
extension Decimal: Comparand { public static var _seal: _ComparandSeal { _ComparandSeal() } }
