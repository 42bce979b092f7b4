/// A value that can be a field of a document.
///
/// Strings, numbers, `Bool`, `Data`, `Date`, `UUID`, `URL`, `Decimal`, optionals, arrays, sets
/// and dictionaries of these, embedded documents, and enums with a raw value that declare it:
/// `enum Genre: String, Storable { ... }`.
public protocol Storable {
  /// What the catalogue is told about a field of this type.
  static var kind: Kind<SchemaReference> { get }
  /// Writes one value.
  func store(into writer: inout RecordWriter)
  /// Reads one value.
  ///
  /// - Throws: ``RecordError`` when the bytes do not hold one; the reader's place is then
  ///   undefined.
  static func load(from reader: inout ValueReader) throws(RecordError) -> Self
  /// The value of a field that a record lacks and that declares no default; nil where that is
  /// an error. Only optionals have one.
  static var absent: Self? { get }
  /// Whether a value may be written as nil, so that an optional around it has to mark the
  /// difference between `.none` and `.some(nil)`.
  static var mayStoreNil: Bool { get }
}

extension Storable {
  @inlinable public static var absent: Self? { nil }
  @inlinable public static var mayStoreNil: Bool { false }
}

extension Storable where Self: RawRepresentable, RawValue: Storable {
  @inlinable public static var kind: Kind<SchemaReference> { RawValue.kind }

  @inlinable public func store(into writer: inout RecordWriter) {
    rawValue.store(into: &writer)
  }

  @inlinable public static func load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let raw = try RawValue.load(from: &reader)
    guard let value = Self(rawValue: raw) else {
      throw .unknownCase("\(raw)", type: "\(Self.self)")
    }
    return value
  }
}

extension Optional: Storable where Wrapped: Storable {
  public static var kind: Kind<SchemaReference> { .optional(Wrapped.kind) }

  @inlinable public func store(into writer: inout RecordWriter) {
    guard let value = self else { return writer.putNil() }
    if Wrapped.mayStoreNil { writer.putArray(count: 1) }
    value.store(into: &writer)
  }

  @inlinable public static func load(from reader: inout ValueReader) throws(RecordError) -> Self {
    if reader.skipNil() { return nil }
    if Wrapped.mayStoreNil {
      let count = try reader.arrayCount()
      guard count == 1 else { throw .invalid("a nested optional holds \(count) values") }
    }
    return try Wrapped.load(from: &reader)
  }

  @inlinable public static var absent: Self? { .some(nil) }
  @inlinable public static var mayStoreNil: Bool { true }
}

extension Array: Storable where Element: Storable {
  public static var kind: Kind<SchemaReference> { .array(Element.kind) }

  @inlinable public func store(into writer: inout RecordWriter) {
    writer.putArray(count: count)
    withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      for index in elements.indices {
        (first + index).withMemoryRebound(to: Lent<Element>.self, capacity: 1) {
          $0.pointee.store(into: &writer)
        }
      }
    }
  }

  @inlinable public static func load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.arrayCount()
    if count == 0 { return [] }
    var elements: [Element] = []
    elements.reserveCapacity(Swift.min(count, 1024))
    for _ in 0..<count { elements.append(try Element.load(from: &reader)) }
    return elements
  }
}

extension Set: Storable where Element: Storable {
  public static var kind: Kind<SchemaReference> { .set(Element.kind) }

  @inlinable public func store(into writer: inout RecordWriter) {
    writer.putArray(count: count)
    let start = writer.count
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for element in self {
      element.store(into: &writer)
      ends.append(writer.count)
    }
    writer.sortItems(from: start, ends: ends)
  }

  @inlinable public static func load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.arrayCount()
    var elements = Self(minimumCapacity: Swift.min(count, 1024))
    for _ in 0..<count { elements.insert(try Element.load(from: &reader)) }
    return elements
  }
}

extension Dictionary: Storable where Key: Storable, Value: Storable {
  public static var kind: Kind<SchemaReference> { .dictionary(Key.kind, Value.kind) }

  @inlinable public func store(into writer: inout RecordWriter) {
    writer.putMap(count: count)
    let start = writer.count
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for (key, value) in self {
      key.store(into: &writer)
      value.store(into: &writer)
      ends.append(writer.count)
    }
    writer.sortItems(from: start, ends: ends)
  }

  @inlinable public static func load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let count = try reader.mapCount()
    var pairs = Self(minimumCapacity: Swift.min(count, 1024))
    for _ in 0..<count {
      let key = try Key.load(from: &reader)
      pairs[key] = try Value.load(from: &reader)
    }
    return pairs
  }
}
