#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A value that can be an entity-accessor key: a string, an integer, a UUID, or an enum or
/// struct with such a raw value that declares it.
///
/// Encoded keys are in the order of the values: integers by number, strings as Swift compares
/// them (canonical equivalents are one key), UUIDs by their bytes.
public protocol DocumentKey: Hashable, Sendable {
  /// How keys of this type are encoded; one collection has keys of one kind.
  static var keyKind: KeyKind { get }
  /// Lends the encoded key. Reading a string that is ASCII already copies nothing.
  func withEncodedKey(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows
  /// The key that these bytes encode; nil where they encode none.
  init?(encodedKey: UnsafeRawBufferPointer)
}

extension DocumentKey {
  /// Lends the encoded key, and returns what `body` makes of it.
  @inlinable public func withEncodedKey<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    var result: Result?
    try withEncodedKey { (key: UnsafeRawBufferPointer) -> Void in result = try body(key) }
    guard let result else { preconditionFailure("\(Self.self) did not lend its encoded key") }
    return result
  }
}

/// How the keys of a collection are encoded.
public enum KeyKind: UInt8, Hashable, Sendable, CaseIterable {
  /// UTF-8 in Unicode's normalisation form C.
  case string = 1
  /// 8 bytes, big-endian, the sign flipped.
  case integer = 2
  /// 8 bytes, big-endian.
  case unsigned = 3
  /// 16 bytes.
  case uuid = 4

  /// Bytes that an encoded key may have, at most: index entries append it, and LMDB's own
  /// limit is 511.
  public static let maximumByteCount = 255
}

extension String: DocumentKey {
  @inlinable public static var keyKind: KeyKind { .string }

  /// The text in normalisation form C; nil for bytes that are not UTF-8.
  public init?(encodedKey: UnsafeRawBufferPointer) {
    self.init(validating: encodedKey, as: UTF8.self)
  }

  @inlinable public func withEncodedKey(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    var isASCII = false
    try utf8.withContiguousStorageIfAvailable { bytes in
      isASCII = Bytes.areASCII(UnsafeRawBufferPointer(bytes))
      if isASCII { try body(UnsafeRawBufferPointer(bytes)) }
    }
    if isASCII { return }
    var copy = normalized()
    try copy.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
  }
}

extension DocumentKey where Self: FixedWidthInteger & SignedInteger {
  @inlinable public static var keyKind: KeyKind { .integer }

  public init?(encodedKey: UnsafeRawBufferPointer) {
    guard encodedKey.count == 8 else { return nil }
    let number = Int64(
      bitPattern: UInt64(bigEndian: encodedKey.loadUnaligned(as: UInt64.self)) ^ (1 << 63))
    self.init(exactly: number)
  }

  @inlinable public func withEncodedKey(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    let ordered = UInt64(bitPattern: Int64(truncatingIfNeeded: self)) ^ (1 << 63)
    try withUnsafeBytes(of: ordered.bigEndian, body)
  }
}

extension DocumentKey where Self: FixedWidthInteger & UnsignedInteger {
  @inlinable public static var keyKind: KeyKind { .unsigned }

  public init?(encodedKey: UnsafeRawBufferPointer) {
    guard encodedKey.count == 8 else { return nil }
    let number = UInt64(bigEndian: encodedKey.loadUnaligned(as: UInt64.self))
    self.init(exactly: number)
  }

  @inlinable public func withEncodedKey(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try withUnsafeBytes(of: UInt64(truncatingIfNeeded: self).bigEndian, body)
  }
}

extension Int: DocumentKey {}
extension Int64: DocumentKey {}
extension Int32: DocumentKey {}
extension Int16: DocumentKey {}
extension Int8: DocumentKey {}
extension UInt: DocumentKey {}
extension UInt64: DocumentKey {}
extension UInt32: DocumentKey {}
extension UInt16: DocumentKey {}
extension UInt8: DocumentKey {}

extension UUID: DocumentKey {
  @inlinable public static var keyKind: KeyKind { .uuid }

  public init?(encodedKey: UnsafeRawBufferPointer) {
    guard encodedKey.count == 16 else { return nil }
    self.init(uuid: encodedKey.loadUnaligned(as: uuid_t.self))
  }

  @inlinable public func withEncodedKey(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try withUnsafeBytes(of: uuid, body)
  }
}

extension DocumentKey where Self: RawRepresentable, RawValue: DocumentKey {
  @inlinable public static var keyKind: KeyKind { RawValue.keyKind }

  public init?(encodedKey: UnsafeRawBufferPointer) {
    guard let raw = RawValue(encodedKey: encodedKey) else { return nil }
    self.init(rawValue: raw)
  }

  @inlinable public func withEncodedKey(
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try rawValue.withEncodedKey(body)
  }
}

extension KeyKind {
  /// The key that `bytes` encode, or nil where they encode none of this kind.
  func value(of bytes: UnsafeRawBufferPointer) -> Value? {
    switch self {
    case .string:
      return String(validating: bytes, as: UTF8.self).map(Value.string)
    case .integer:
      guard bytes.count == 8 else { return nil }
      let ordered = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      return .integer(Int64(bitPattern: ordered ^ (1 << 63)))
    case .unsigned:
      guard bytes.count == 8 else { return nil }
      return Value(UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    case .uuid:
      guard bytes.count == 16 else { return nil }
      return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    }
  }

  /// How a person would write the key that `bytes` encode.
  func text(of bytes: UnsafeRawBufferPointer) -> String {
    value(of: bytes)?.description ?? bytes.map { String($0, radix: 16) }.joined(separator: " ")
  }
}

extension Value {
  /// The encoded key that this value is in a collection with keys of `kind`; nil where it is
  /// none.
  func encodedKey(of kind: KeyKind) -> [UInt8]? {
    switch (kind, self) {
    case (.string, .string(let text)): text.withEncodedKey { [UInt8]($0) }
    case (.integer, .integer(let number)): number.withEncodedKey { [UInt8]($0) }
    case (.unsigned, .integer(let number)):
      UInt64(exactly: number)?.withEncodedKey { [UInt8]($0) }
    case (.unsigned, .unsigned(let number)): number.withEncodedKey { [UInt8]($0) }
    case (.uuid, .uuid(let id)): id.withEncodedKey { [UInt8]($0) }
    case (.uuid, .string(let text)): UUID(uuidString: text)?.withEncodedKey { [UInt8]($0) }
    default: nil
    }
  }
}
