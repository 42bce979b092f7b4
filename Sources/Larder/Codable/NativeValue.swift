#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A type whose values the record format has itself. The coder writes them as fields are
/// written, and not by way of their own `encode(to:)`.
protocol NativeValue: Storable {}

extension String: NativeValue {}
extension Bool: NativeValue {}
extension Double: NativeValue {}
extension Float: NativeValue {}
extension Int: NativeValue {}
extension Int64: NativeValue {}
extension Int32: NativeValue {}
extension Int16: NativeValue {}
extension Int8: NativeValue {}
extension UInt: NativeValue {}
extension UInt64: NativeValue {}
extension UInt32: NativeValue {}
extension UInt16: NativeValue {}
extension UInt8: NativeValue {}
extension Data: NativeValue {}
extension Date: NativeValue {}
extension UUID: NativeValue {}
extension Decimal: NativeValue {}
extension URL: NativeValue {}
extension Optional: NativeValue where Wrapped: NativeValue {}
extension Array: NativeValue where Element: NativeValue {}
extension Set: NativeValue where Element: NativeValue {}
/// Other keys are written as text, as Swift's own `Codable` does for dictionaries.
extension Dictionary: NativeValue where Key == String, Value: NativeValue {}
