/// What the coder has to know of a type; found out once per type.
struct CodingTraits {
  let type: Any.Type
  /// How its values are written and read where the format has them itself. Lives for ever.
  let native: Unmanaged<NativeCoder>?
  let order: ItemOrder
  let isOptional: Bool
  let isDictionary: Bool
  /// Whether it is a dictionary whose keys are integers on disk, although Swift's own `Codable`
  /// has them as text.
  let hasIntegerKeys: Bool
  /// How it is written, where it is an optional of an optional that is not native.
  let nestedStore: ((UnsafeRawPointer, ValueEncoder) throws -> Void)?
  let nestedLoad: Unmanaged<NestedOptionalLoader>?

  private static let table = TypeTable<CodingTraits>()

  /// The traits of a type. They live for ever.
  @inline(__always) static func of(_ type: Any.Type) -> UnsafePointer<CodingTraits> {
    table.element(of: type) { CodingTraits(type) }
  }

  private init(_ type: Any.Type) {
    self.type = type
    native = NativeCoder.of(type).map { Unmanaged.passRetained($0) }
    order = (type as? any Unordered.Type)?.itemOrder ?? .asWritten
    isOptional = type is any OptionalValue.Type
    isDictionary = order == .sortedPairs
    hasIntegerKeys = (type as? any KeyedByType.Type)?.hasIntegerKeys ?? false
    nestedStore = native == nil ? (type as? any EncodableOptional.Type)?.nestedStore : nil
    let loader = native == nil ? (type as? any DecodableOptional.Type)?.nestedLoader : nil
    nestedLoad = loader.map { Unmanaged.passRetained($0) }
  }
}

/// The order in which the items of an array are kept.
enum ItemOrder: UInt8 {
  case asWritten
  /// By their bytes: a set, whose own order differs from process to process.
  case sorted
  /// Keys with the values behind them, by the bytes of both, as a dictionary: one with keys that
  /// are not text.
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

private protocol KeyedByType {
  static var hasIntegerKeys: Bool { get }
}

extension Dictionary: KeyedByType {
  /// For `Int` itself, and for enums and structs over it that are `CodingKeyRepresentable`: of
  /// other types that are, nobody can tell whether a number is all of the key.
  fileprivate static var hasIntegerKeys: Bool {
    if Key.self is Int.Type { return true }
    func rawIsInt<Raw: RawRepresentable>(_: Raw.Type) -> Bool { Raw.RawValue.self is Int.Type }
    return (Key.self as? any RawRepresentable.Type).map { rawIsInt($0) } ?? false
  }
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

/// Reads an optional of an optional. Lives for ever.
class NestedOptionalLoader {
  /// - Parameter type: The loader's own.
  func load<Value>(_ type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    preconditionFailure("abstract")
  }
}

private final class NestedOptionalLoaderOf<Wrapped: Decodable>: NestedOptionalLoader {
  override func load<Value>(_ type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    let value: Wrapped? = decoder.decodeNil() ? .none : try decoder.decodeOnly(Wrapped.self)
    return unsafeBitCast(value, to: type)
  }
}

private protocol DecodableOptional {
  static var nestedLoader: NestedOptionalLoader? { get }
}

extension Optional: DecodableOptional where Wrapped: Decodable {
  fileprivate static var nestedLoader: NestedOptionalLoader? {
    Wrapped.self is any OptionalValue.Type ? NestedOptionalLoaderOf<Wrapped>() : nil
  }
}
