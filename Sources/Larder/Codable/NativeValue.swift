#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A type whose values the record format has itself. The coder writes them as fields are
/// written, and not by way of their own `encode(to:)`.
protocol NativeValue: Storable, Sendable {}

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

// Callers know a value by a generic type only. Casting it would cost more than writing it does.
extension NativeValue {
  /// - Parameter value: A value of this very type.
  static func store<Value>(_ value: Value, into writer: inout RecordWriter) {
    unsafeBitCast(value, to: Self.self)._store(into: &writer)
  }

  /// - Parameter type: This very type.
  static func load<Value>(
    _ type: Value.Type, from reader: inout ValueReader
  ) throws(RecordError) -> Value {
    unsafeBitCast(try _load(from: &reader), to: type)
  }
}

// MARK: Types that need no look-up

// Where the compiler knows the type, as in the containers' calls for `Int`, one line of these is
// left. Otherwise they take less time than finding the type's traits, and the compiler writes
// code of its own for these arrays.

/// Asking Swift for such a type takes longer than comparing it.
private enum FrequentArray {
  static let strings = ObjectIdentifier([String].self)
  static let ints = ObjectIdentifier([Int].self)
  static let doubles = ObjectIdentifier([Double].self)
}

extension RecordWriter {
  /// Writes a value if it is of a frequent type; returns whether it is.
  @inline(__always) mutating func put<Value>(frequent value: Value) -> Bool {
    @inline(__always) func put<Native: Storable>(
      _ type: Native.Type, _ isIt: Bool = Value.self == Native.self
    ) -> Bool {
      if isIt { unsafeBitCast(value, to: type)._store(into: &self) }
      return isIt
    }
    let id = ObjectIdentifier(Value.self)
    return put(String.self) || put(Int.self) || put(Double.self) || put(Bool.self)
      || put(Int64.self) || put(Date.self) || put(UUID.self)
      || put([String].self, id == FrequentArray.strings)
      || put([Int].self, id == FrequentArray.ints)
      || put([Double].self, id == FrequentArray.doubles)
  }
}

extension ValueReader {
  /// Reads a value of a frequent type; nil for other types.
  @inline(__always) mutating func frequent<Value>(
    _ type: Value.Type
  ) throws(RecordError) -> Value? {
    @inline(__always) func same<Native>(_ value: Native) -> Value {
      unsafeBitCast(value, to: type)
    }
    if type == String.self { return same(try string()) }
    if type == Int.self { return same(try Int._load(from: &self)) }
    if type == Double.self { return same(try double()) }
    if type == Bool.self { return same(try bool()) }
    if type == Int64.self { return same(try int64()) }
    if type == Date.self { return same(try Date._load(from: &self)) }
    if type == UUID.self { return same(try UUID._load(from: &self)) }
    let id = ObjectIdentifier(type)
    if id == FrequentArray.strings { return same(try [String]._load(from: &self)) }
    if id == FrequentArray.ints { return same(try [Int]._load(from: &self)) }
    if id == FrequentArray.doubles { return same(try [Double]._load(from: &self)) }
    return nil
  }
}
