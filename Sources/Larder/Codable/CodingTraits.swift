#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What the coder has to know of a type; found out once per type.
struct CodingTraits {
  /// How its values are written and read where the format has them itself.
  let native: Native?
  let order: ItemOrder
  let isOptional: Bool
  /// How it is written, where it is an optional of an optional that is not native.
  let nestedStore: ((UnsafeRawPointer, ValueEncoder) throws -> Void)?
  let nestedLoad: ((ValueDecoder, UnsafeMutableRawPointer) throws -> Void)?

  /// For callers that know a value as a pointer only: a cast of each value would cost more than
  /// writing it.
  struct Native {
    let store: (UnsafeRawPointer, inout RecordWriter) -> Void
    let load: (inout ValueReader, UnsafeMutableRawPointer) throws(RecordError) -> Void

    init<Value: NativeValue>(_: Value.Type) {
      store = { value, writer in
        value.assumingMemoryBound(to: Value.self).pointee.store(into: &writer)
      }
      load = { (reader, place) throws(RecordError) in
        let value = try Value.load(from: &reader)
        place.bindMemory(to: Value.self, capacity: 1).initialize(to: value)
      }
    }
  }

  init(_ type: Any.Type) {
    self.native = Self.native(type)
    order = (type as? any Unordered.Type)?.itemOrder ?? .asWritten
    isOptional = type is any OptionalValue.Type
    nestedStore =
      self.native == nil ? (type as? any EncodableOptional.Type)?.nestedStore : nil
    nestedLoad =
      self.native == nil ? (type as? any DecodableOptional.Type)?.nestedLoad : nil
  }
}

extension CodingTraits {
  private static func native(_ type: Any.Type) -> Native? {
    // These are named so that the compiler writes code for each of them.
    switch type {
    case is String.Type: return Native(String.self)
    case is Int.Type: return Native(Int.self)
    case is Double.Type: return Native(Double.self)
    case is Date.Type: return Native(Date.self)
    case is UUID.Type: return Native(UUID.self)
    case is Data.Type: return Native(Data.self)
    case is [String].Type: return Native([String].self)
    case is [Int].Type: return Native([Int].self)
    case is [Double].Type: return Native([Double].self)
    case is [String: String].Type: return Native([String: String].self)
    default: break
    }
    func opened<Value: NativeValue>(_ type: Value.Type) -> Native { Native(type) }
    return (type as? any NativeValue.Type).map { opened($0) }
  }
}

/// The order in which the items of an array are kept.
enum ItemOrder {
  case asWritten
  /// By their bytes: a set, whose own order differs from process to process.
  case sorted
  /// Keys with the values behind them, by the bytes of both: a dictionary with keys that are not
  /// text.
  case sortedPairs
}

// MARK: Types told apart at run time

private protocol Unordered {
  static var itemOrder: ItemOrder { get }
}

extension Set: Unordered {
  fileprivate static var itemOrder: ItemOrder { .sorted }
}

extension Dictionary: Unordered {
  fileprivate static var itemOrder: ItemOrder { .sortedPairs }
}

private protocol OptionalValue {}

extension Optional: OptionalValue {}

/// An optional that may be inside another. Each level but the innermost is then an array of one
/// element, as `Storable` has it too, so that `.some(nil)` is not `nil`.
private protocol EncodableOptional {
  static var nestedStore: ((UnsafeRawPointer, ValueEncoder) throws -> Void)? { get }
}

extension Optional: EncodableOptional where Wrapped: Encodable {
  fileprivate static var nestedStore: ((UnsafeRawPointer, ValueEncoder) throws -> Void)? {
    guard Wrapped.self is any OptionalValue.Type else { return nil }
    return { value, encoder in
      if let value = value.assumingMemoryBound(to: Self.self).pointee {
        try encoder.encodeOnly(value)
      } else {
        try encoder.encodeNil()
      }
    }
  }
}

private protocol DecodableOptional {
  static var nestedLoad: ((ValueDecoder, UnsafeMutableRawPointer) throws -> Void)? { get }
}

extension Optional: DecodableOptional where Wrapped: Decodable {
  fileprivate static var nestedLoad: ((ValueDecoder, UnsafeMutableRawPointer) throws -> Void)? {
    guard Wrapped.self is any OptionalValue.Type else { return nil }
    return { decoder, place in
      let value: Self = decoder.decodeNil() ? .none : try decoder.decodeOnly(Wrapped.self)
      place.bindMemory(to: Self.self, capacity: 1).initialize(to: value)
    }
  }
}
