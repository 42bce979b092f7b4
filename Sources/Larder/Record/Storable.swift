/// A value that can be a field of a document.
///
/// Strings, numbers, `Bool`, `Data`, `Date`, `UUID`, `URL`, `Decimal`, optionals, arrays, sets
/// and dictionaries of these, embedded documents, and enums with a raw value that declare it:
/// `enum Genre: String, Storable { ... }`.
///
/// Declaring it is enough; its requirements are Larder's own. Their names begin with an underscore
/// to leave plain ones, such as `kind` or `load`, to your types.
public protocol Storable {
  /// What the catalogue is told about a field of this type.
  static var _kind: Kind<SchemaReference> { get }
  /// Writes one value.
  func _store(into writer: inout RecordWriter)
  /// Reads one value.
  ///
  /// - Throws: ``RecordError`` when the bytes do not hold one; the reader's place is then
  ///   undefined.
  static func _load(from reader: inout ValueReader) throws(RecordError) -> Self
  /// The value of a field that a record lacks and that declares no default; nil where that is
  /// an error. Only optionals have one.
  static var _absent: Self? { get }
  /// Whether a value may be written as nil, so that an optional around it has to mark the
  /// difference between `.none` and `.some(nil)`.
  static var _mayStoreNil: Bool { get }
}

extension Storable {
  @inlinable public static var _absent: Self? { nil }
  @inlinable public static var _mayStoreNil: Bool { false }
}

extension Storable where Self: RawRepresentable, RawValue: Storable {
  @inlinable public static var _kind: Kind<SchemaReference> { RawValue._kind }

  @inlinable public func _store(into writer: inout RecordWriter) {
    rawValue._store(into: &writer)
  }

  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let raw = try RawValue._load(from: &reader)
    guard let value = Self(rawValue: raw) else {
      throw .unknownCase("\(raw)", type: "\(Self.self)")
    }
    return value
  }

  @inlinable public static var _absent: Self? { RawValue._absent.flatMap(Self.init(rawValue:)) }
  @inlinable public static var _mayStoreNil: Bool { RawValue._mayStoreNil }
}

extension Optional: Storable where Wrapped: Storable {
  public static var _kind: Kind<SchemaReference> { .optional(Wrapped._kind) }

  @inlinable public func _store(into writer: inout RecordWriter) {
    guard let value = self else { return writer.putNil() }
    if Wrapped._mayStoreNil { writer.putArray(count: 1) }
    value._store(into: &writer)
  }

  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    if reader.skipNil() { return nil }
    if Wrapped._mayStoreNil {
      let count = try reader.arrayCount()
      guard count == 1 else { throw .invalid("a nested optional holds \(count) values") }
    }
    return try Wrapped._load(from: &reader)
  }

  @inlinable public static var _absent: Self? { .some(nil) }
  @inlinable public static var _mayStoreNil: Bool { true }
}

extension Array: Storable where Element: Storable {
  public static var _kind: Kind<SchemaReference> { .array(Element._kind) }

  @inlinable public func _store(into writer: inout RecordWriter) {
    writer.putArray(count: count)
    withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      for index in elements.indices {
        (first + index).withMemoryRebound(to: Lent<Element>.self, capacity: 1) {
          $0.pointee._store(into: &writer)
        }
      }
    }
  }

  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.arrayCount()
    if count == 0 { return [] }
    var elements: [Element] = []
    elements.reserveCapacity(Swift.min(count, 1024))
    for _ in 0..<count { elements.append(try Element._load(from: &reader)) }
    return elements
  }
}

extension Set: Storable where Element: Storable {
  public static var _kind: Kind<SchemaReference> { .set(Element._kind) }

  @inlinable public func _store(into writer: inout RecordWriter) {
    writer.putArray(count: count)
    let start = writer.count
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for element in self {
      element._store(into: &writer)
      ends.append(writer.count)
    }
    writer.sortItems(from: start, ends: ends)
  }

  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.arrayCount()
    var elements = Self(minimumCapacity: Swift.min(count, 1024))
    for _ in 0..<count { elements.insert(try Element._load(from: &reader)) }
    return elements
  }
}

extension Dictionary: Storable where Key: Storable, Value: Storable {
  public static var _kind: Kind<SchemaReference> { .dictionary(Key._kind, Value._kind) }

  @inlinable public func _store(into writer: inout RecordWriter) {
    writer.putMap(count: count)
    let start = writer.count
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for (key, value) in self {
      key._store(into: &writer)
      value._store(into: &writer)
      ends.append(writer.count)
    }
    writer.sortItems(from: start, ends: ends)
  }

  @inlinable public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.mapCount()
    var pairs = Self(minimumCapacity: Swift.min(count, 1024))
    for _ in 0..<count {
      let key = try Key._load(from: &reader)
      pairs[key] = try Value._load(from: &reader)
    }
    return pairs
  }
}
