#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension String: Storable {
  public static var _kind: Kind<SchemaReference> { .string }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  @inlinable public static func _load(
    from reader: inout ValueReader
  ) throws(RecordError) -> String { try reader.string() }
}

extension Bool: Storable {
  public static var _kind: Kind<SchemaReference> { .bool }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Bool {
    try reader.bool()
  }
}

extension Double: Storable {
  public static var _kind: Kind<SchemaReference> { .double }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  @inlinable public static func _load(
    from reader: inout ValueReader
  ) throws(RecordError) -> Double { try reader.double() }
}

extension Float: Storable {
  public static var _kind: Kind<SchemaReference> { .float }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  /// A double that was stored by an older or newer type is rounded to the nearest `Float`.
  @inlinable public static func _load(
    from reader: inout ValueReader
  ) throws(RecordError) -> Float { try reader.float() }
}

extension Storable where Self: FixedWidthInteger & SignedInteger {
  public static var _kind: Kind<SchemaReference> { .integer(IntegerKind(Self.self)) }
  @inlinable public func _store(into writer: inout RecordWriter) {
    writer.put(Int64(truncatingIfNeeded: self))
  }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    guard let value = Self(exactly: try reader.int64()) else {
      throw .outOfRange(expected: "\(Self.self)")
    }
    return value
  }
}

extension Storable where Self: FixedWidthInteger & UnsignedInteger {
  public static var _kind: Kind<SchemaReference> { .integer(IntegerKind(Self.self)) }
  @inlinable public func _store(into writer: inout RecordWriter) {
    writer.put(UInt64(truncatingIfNeeded: self))
  }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    guard let value = Self(exactly: try reader.uint64()) else {
      throw .outOfRange(expected: "\(Self.self)")
    }
    return value
  }
}

extension Int: Storable {}
extension Int64: Storable {}
extension Int32: Storable {}
extension Int16: Storable {}
extension Int8: Storable {}
extension UInt: Storable {}
extension UInt64: Storable {}
extension UInt32: Storable {}
extension UInt16: Storable {}
extension UInt8: Storable {}

extension IntegerKind {
  init<Integer: FixedWidthInteger>(_: Integer.Type) {
    let exact = Self.allCases.first {
      $0.isSigned == Integer.isSigned && $0.bitCount == Integer.bitWidth
    }
    guard let exact else { preconditionFailure("\(Integer.self) cannot be a field") }
    self = exact
  }
}

extension Data: Storable {
  public static var _kind: Kind<SchemaReference> { .data }
  @inlinable public func _store(into writer: inout RecordWriter) {
    withUnsafeBytes { writer.put($0) }
  }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Data {
    Data(try reader.bytes())
  }
}

extension Date: Storable {
  public static var _kind: Kind<SchemaReference> { .date }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Date {
    let bytes = try reader.fixedExtension(
      tag: 0xD7, type: RecordFormat.Extension.date, count: 8, "date")
    return Date(
      timeIntervalSinceReferenceDate: Double(
        bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
  }
}

extension UUID: Storable {
  public static var _kind: Kind<SchemaReference> { .uuid }
  @inlinable public func _store(into writer: inout RecordWriter) { writer.put(self) }
  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> UUID {
    let bytes = try reader.fixedExtension(
      tag: 0xD8, type: RecordFormat.Extension.uuid, count: 16, "UUID")
    return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

extension Decimal: Storable {
  public static var _kind: Kind<SchemaReference> { .decimal }
  public func _store(into writer: inout RecordWriter) {
    writer.put(text: isNaN ? "NaN" : description, extension: RecordFormat.Extension.decimal)
  }
  public static func _load(from reader: inout ValueReader) throws(RecordError) -> Decimal {
    let text = try reader.textExtension(type: RecordFormat.Extension.decimal, "a decimal")
    if text == "NaN" { return .nan }
    guard let value = Decimal(string: text) else { throw .invalid("`\(text)` is no decimal") }
    return value
  }
}

extension URL: Storable {
  public static var _kind: Kind<SchemaReference> { .url }
  /// A URL relative to another is stored, and read back, as the absolute one. One without any text, as
  /// `URLComponents` can make it, cannot be made from its text again, and is refused.
  public func _store(into writer: inout RecordWriter) {
    let text = absoluteString
    if text.isEmpty { writer.refuse(.invalid("a URL without any text cannot be stored")) }
    writer.put(text: text, extension: RecordFormat.Extension.url)
  }
  public static func _load(from reader: inout ValueReader) throws(RecordError) -> URL {
    let text = try reader.textExtension(type: RecordFormat.Extension.url, "a URL")
    guard let value = URL(string: text) else { throw .invalid("`\(text)` is no URL") }
    return value
  }
}
