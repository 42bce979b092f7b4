#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension OrderedBytes {
  /// Writes the next value of `reader` as one of `scalar`, as a type that declares it reads it.
  @inline(__always)
  mutating func put(_ reader: inout ValueReader, as scalar: IndexScalar, limit: Int) {
    guard reader.at < reader.end else { return append(IndexTag.unreadable) }
    switch (scalar, reader.at.load(as: UInt8.self)) {
    case (.string, 0xA0...0xBF), (.string, 0xD9...0xDB):
      guard let text = try? reader.stringBytes() else { return append(IndexTag.unreadable) }
      put(string: text, limit: limit)
    case (.integer, 0x00...0x7F), (.integer, 0xE0...0xFF), (.integer, 0xCC...0xCE),
      (.integer, 0xD0...0xD3):
      guard let value = try? reader.int64() else { return append(IndexTag.unreadable) }
      put(value)
    case (.double, 0xCB):
      guard let value = try? reader.double() else { return append(IndexTag.unreadable) }
      put(value)
    case (.date, 0xD7):
      guard let value = try? Date._load(from: &reader) else { return append(IndexTag.unreadable) }
      put(value)
    default: putAny(&reader, as: scalar, limit: limit)
    }
  }

  private mutating func put(string bytes: UnsafeRawBufferPointer, limit: Int) {
    if bytes.isComposed { return put(text: bytes, tag: IndexTag.string, limit: limit + 1) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return append(IndexTag.unreadable)
    }
    put(text, limit: limit + 1)
  }

  @inline(never)
  private mutating func putAny(_ reader: inout ValueReader, as scalar: IndexScalar, limit: Int) {
    // What cannot be read has an entry that no query looks for.
    guard let value = try? reader.value() else { return append(IndexTag.unreadable) }
    put(value, as: scalar, limit: limit)
  }

  /// Writes a value as one of `scalar`; another kind has an entry that no query looks for.
  mutating func put(_ value: Value, as scalar: IndexScalar, limit: Int) {
    switch (scalar, value) {
    case (_, .null): append(IndexTag.null)
    case (.bool, .bool(let value)): put(value)
    case (.integer, .integer(let value)): put(value)
    case (.integer, .unsigned(let value)): put(value)
    case (.integer, .double(let value)):
      if let exact = Int64(exactly: value) {
        put(exact)
      } else if let exact = UInt64(exactly: value) {
        put(exact)
      } else {
        append(IndexTag.unreadable)
      }
    case (.double, .integer), (.double, .unsigned), (.double, .double):
      guard let number = value.number else { return append(IndexTag.unreadable) }
      put(number)
    case (.float, .integer), (.float, .unsigned), (.float, .double):
      guard let number = value.floatNumber else { return append(IndexTag.unreadable) }
      put(number)
    case (.string, .string(let text)): put(text, limit: limit + 1)
    case (.data, .data(let data)):
      data.withUnsafeBytes { put(text: $0, tag: IndexTag.data, limit: limit + 1) }
    case (.date, .date(let value)): put(value)
    case (.uuid, .uuid(let value)): put(value)
    case (.url, .url(let value)):
      put(value.absoluteString, tag: IndexTag.url, limit: limit + 1)
    case (.decimal, .decimal(let value)): put(value)
    default: append(IndexTag.unreadable)
    }
  }

  /// Writes a value of whatever kind it has, uncut.
  mutating func put(whole value: Value) {
    let scalar: IndexScalar =
      switch value {
      case .bool, .null: .bool
      case .integer, .unsigned: .integer
      case .double: .double
      case .string: .string
      case .data: .data
      case .date: .date
      case .uuid: .uuid
      case .url: .url
      case .decimal: .decimal
      case .array, .dictionary, .document: .bool
      }
    put(value, as: scalar, limit: .max - 1)
  }
}
