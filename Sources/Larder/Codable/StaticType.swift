/// The type that a value was encoded as, in one word: what the catalogue is asked about when the
/// value becomes a field.
struct StaticType: Equatable, BitwiseCopyable {
  let bits: UInt

  /// A container that a type asked for itself: `nestedContainer(keyedBy:forKey:)` and its like.
  static let none = StaticType(bits: 0)

  @inline(__always) private init(bits: UInt) { self.bits = bits }

  /// Traits live for ever at addresses whose lowest bit is free.
  @inline(__always) init(_ traits: UnsafePointer<CodingTraits>) {
    bits = UInt(bitPattern: traits)
  }

  /// The type of a value that may be nil, and is then not encoded at all.
  @inline(__always) var optional: StaticType { StaticType(bits: bits | 1) }

  var isOptional: Bool { bits & 1 == 1 }

  /// nil for ``none``.
  var traits: UnsafePointer<CodingTraits>? { UnsafePointer(bitPattern: bits & ~1) }
}

extension StaticType {
  static let bool = StaticType(CodingTraits.of(Bool.self))
  static let string = StaticType(CodingTraits.of(String.self))
  static let double = StaticType(CodingTraits.of(Double.self))
  static let float = StaticType(CodingTraits.of(Float.self))
  static let int = StaticType(CodingTraits.of(Int.self))
  static let int8 = StaticType(CodingTraits.of(Int8.self))
  static let int16 = StaticType(CodingTraits.of(Int16.self))
  static let int32 = StaticType(CodingTraits.of(Int32.self))
  static let int64 = StaticType(CodingTraits.of(Int64.self))
  static let uint = StaticType(CodingTraits.of(UInt.self))
  static let uint8 = StaticType(CodingTraits.of(UInt8.self))
  static let uint16 = StaticType(CodingTraits.of(UInt16.self))
  static let uint32 = StaticType(CodingTraits.of(UInt32.self))
  static let uint64 = StaticType(CodingTraits.of(UInt64.self))
}
