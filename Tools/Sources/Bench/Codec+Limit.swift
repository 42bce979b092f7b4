@_spi(Benchmark) import Larder

extension Codec {
  /// Contacts packed and unpacked by hand through nothing but pointers: the limit of Swift.
  ///
  /// The bytes are those of CBench's record.h: flags, a byte for the size of each text, the numbers
  /// at fixed places, the texts one behind the other. One buffer is written over and over, texts are
  /// copied as the UTF-8 that they are, no contact is copied and no string retained, and what is read
  /// is the very struct that Larder returns.
  ///
  /// Bare, that is all: no version, nothing by which one field is found without the others, nothing
  /// that tells whether the bytes are whole. No text may be longer than 255 bytes, nothing but the
  /// place and its label may be missing, and no byte is checked.
  ///
  /// As a record, it has what a store needs in each: a version, the number of the table of fields
  /// and the sizes in front, then the offset of each field, and behind it the checksum of a record,
  /// over the key and all that, which is verified before anything is read. It still trusts every
  /// other byte, and knows one version of one type.
  static func limit(_ name: String, _ contacts: [Contact], isRecord: Bool) -> Codec {
    let packer = LimitPacker(isRecord: isRecord)
    let records = contacts.map { contact in
      let bytes = withUnsafePointer(to: contact) { packer.pack($0) }
      return [UInt8](bytes)
    }
    return Codec(
      name: name,
      encode: {
        contacts.withUnsafeBufferPointer { contacts in
          guard let first = contacts.baseAddress else { return 0 }
          var byteCount = 0
          for index in contacts.indices { byteCount += packer.pack(first + index).count }
          return byteCount
        }
      },
      decode: {
        var sum: UInt64 = 0
        for index in records.indices {
          sum &+= try records[index].withUnsafeBytes {
            try packer.glance($0, key: contacts[index].id)
          }
        }
        return sum
      })
  }
}

/// Packs contacts into bytes of its own, one over the other.
private final class LimitPacker {
  /// Behind it stands the contact itself, at an address that its numbers are aligned at.
  private let start = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 16)
  private let isRecord: Bool

  /// Version, table, number of fields, size, and eleven offsets.
  private static let headerByteCount = 2 + 2 + 2 + 4 + 11 * 2
  private static let version: UInt16 = 0x04C1

  init(isRecord: Bool) { self.isRecord = isRecord }

  deinit { start.deallocate() }

  /// The bytes of a contact, until the next one is packed.
  func pack(_ contact: UnsafePointer<Contact>) -> UnsafeRawBufferPointer {
    isRecord ? packRecord(contact) : packBare(contact)
  }

  private func packBare(_ contact: UnsafePointer<Contact>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: Self.pack(contact, start, nil) - start)
  }

  private func packRecord(_ contact: UnsafePointer<Contact>) -> UnsafeRawBufferPointer {
    let end = Self.pack(contact, start + Self.headerByteCount, start + 10)
    let count = end - start
    start.storeBytes(of: Self.version, as: UInt16.self)
    start.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
    start.storeBytes(of: 11, toByteOffset: 4, as: UInt16.self)
    start.storeBytes(of: UInt32(truncatingIfNeeded: count), toByteOffset: 6, as: UInt32.self)
    let checksum = Self.checksum(
      UnsafeRawBufferPointer(start: start, count: count), key: contact.pointee.id)
    end.storeBytes(of: checksum, as: UInt64.self)
    return UnsafeRawBufferPointer(start: start, count: count + 8)
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, key: String) -> UInt64 {
    key.utf8.withContiguousStorageIfAvailable {
      RecordChecksum.of(bytes, key: UnsafeRawBufferPointer($0))
    } ?? 0
  }

  /// Reads a contact that was packed the same way, and glances at it.
  ///
  /// - Throws: ``WrongResult`` when the checksum of a record is another one.
  @inline(__always)
  func glance(_ bytes: UnsafeRawBufferPointer, key: String) throws(WrongResult) -> UInt64 {
    guard let start = bytes.baseAddress else { throw WrongResult(description: "no bytes") }
    guard isRecord else {
      return Contact(packed: start.assumingMemoryBound(to: UInt8.self)).glance
    }
    let count = bytes.count - 8
    guard
      start.load(as: UInt16.self) == Self.version,
      start.loadUnaligned(fromByteOffset: count, as: UInt64.self)
        == Self.checksum(UnsafeRawBufferPointer(start: start, count: count), key: key)
    else { throw WrongResult(description: "a packed contact was damaged") }
    return Contact(
      packed: (start + Self.headerByteCount).assumingMemoryBound(to: UInt8.self)
    ).glance
  }

  /// Returns where the contact ends.
  ///
  /// - Parameter offsets: Where the offset of each field goes; nil for none.
  @inline(__always) private static func pack(
    _ contact: UnsafePointer<Contact>, _ record: UnsafeMutableRawPointer,
    _ offsets: UnsafeMutableRawPointer?
  ) -> UnsafeMutableRawPointer {
    var text = record + (contact.pointee.geo == nil ? 36 : 52)
    var size = record + 2
    var flags: UInt8 = contact.pointee.active ? 1 : 0
    /// Notes that a field begins at `place`.
    @inline(__always) func note(_ field: Int, _ place: UnsafeMutableRawPointer) {
      offsets?.storeBytes(
        of: UInt16(truncatingIfNeeded: place - record), toByteOffset: 2 * field, as: UInt16.self)
    }
    note(0, text)
    put(contact.pointee.id, &size, &text)
    note(1, text)
    put(contact.pointee.name, &size, &text)
    note(2, text)
    put(contact.pointee.phone, &size, &text)
    note(3, text)
    put(contact.pointee.address, &size, &text)
    note(4, text)
    put(contact.pointee.city, &size, &text)
    note(5, record + 12)
    record.storeBytes(of: contact.pointee.order, toByteOffset: 12, as: Int64.self)
    note(6, record + 20)
    record.storeBytes(of: contact.pointee.balance, toByteOffset: 20, as: Double.self)
    note(7, record + 28)
    record.storeBytes(of: contact.pointee.updatedAt, toByteOffset: 28, as: Double.self)
    note(8, record + 1)
    note(9, record)
    note(10, record + 36)
    if let geo = contact.pointee.geo {
      flags |= 2
      record.storeBytes(of: geo.lat, toByteOffset: 36, as: Double.self)
      record.storeBytes(of: geo.lon, toByteOffset: 44, as: Double.self)
      if let label = geo.label {
        flags |= 4
        put(label, &size, &text)
      } else {
        put("", &size, &text)
      }
    } else {
      put("", &size, &text)
    }
    let tagCount = contact.pointee.tags.count
    for index in 0..<tagCount { put(contact.pointee.tags[index], &size, &text) }
    record.storeBytes(of: flags, as: UInt8.self)
    record.storeBytes(of: UInt8(truncatingIfNeeded: tagCount), toByteOffset: 1, as: UInt8.self)
    return text
  }

  @inline(__always) private static func put(
    _ value: borrowing String, _ size: inout UnsafeMutableRawPointer,
    _ text: inout UnsafeMutableRawPointer
  ) {
    let count = value.utf8.withContiguousStorageIfAvailable { bytes in
      if let start = bytes.baseAddress {
        text.copyMemory(from: start, byteCount: bytes.count)
      }
      return bytes.count
    }
    size.storeBytes(of: UInt8(truncatingIfNeeded: count ?? 0), as: UInt8.self)
    size += 1
    text += count ?? 0
  }
}
