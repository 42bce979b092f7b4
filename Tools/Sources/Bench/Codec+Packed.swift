extension Codec {
  /// Contacts packed and unpacked by hand in plain Swift, as an app would that has one type and
  /// trusts its bytes.
  ///
  /// Field by field in order, into one buffer that is written over and over: numbers as they are in
  /// memory, texts as a 16-bit size and the UTF-8 of `withUTF8`, a byte in front of what may be
  /// missing. There is no version, no offset by which one field is found without the others, no
  /// checksum and no check. Contacts are iterated over and strings passed as Swift passes them, which
  /// retains them; ``limit(_:_:isRecord:)`` is without that.
  static func packed(_ contacts: [Contact]) -> Codec {
    let packer = ContactPacker()
    let records = contacts.map { contact in
      let count = packer.pack(contact)
      return [UInt8](UnsafeRawBufferPointer(start: packer.bytes, count: count))
    }
    return Codec(
      name: "swift-packed",
      encode: {
        var byteCount = 0
        for contact in contacts { byteCount += packer.pack(contact) }
        return byteCount
      },
      decode: {
        var sum: UInt64 = 0
        for record in records {
          sum &+= record.withUnsafeBytes { bytes in
            bytes.baseAddress.map { ContactPacker.unpack($0).glance } ?? 0
          }
        }
        return sum
      })
  }
}

/// Lives as long as the run.
private struct ContactPacker {
  let bytes = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 16)

  /// Returns how many bytes the contact has.
  func pack(_ contact: Contact) -> Int {
    var end = 0
    put(contact.id, &end)
    put(contact.name, &end)
    put(contact.phone, &end)
    put(contact.address, &end)
    put(contact.city, &end)
    put(contact.order, &end)
    put(contact.balance, &end)
    put(contact.updatedAt, &end)
    put(UInt8(truncatingIfNeeded: contact.tags.count), &end)
    for tag in contact.tags { put(tag, &end) }
    put(contact.active, &end)
    put(contact.geo != nil, &end)
    if let geo = contact.geo {
      put(geo.lat, &end)
      put(geo.lon, &end)
      put(geo.label != nil, &end)
      if let label = geo.label { put(label, &end) }
    }
    return end
  }

  @inline(__always) private func put<Value: BitwiseCopyable>(_ value: Value, _ end: inout Int) {
    bytes.storeBytes(of: value, toByteOffset: end, as: Value.self)
    end += MemoryLayout<Value>.size
  }

  @inline(__always) private func put(_ value: String, _ end: inout Int) {
    var value = value
    value.withUTF8 { text in
      put(UInt16(truncatingIfNeeded: text.count), &end)
      if let start = text.baseAddress {
        (bytes + end).copyMemory(from: start, byteCount: text.count)
      }
      end += text.count
    }
  }

  static func unpack(_ bytes: UnsafeRawPointer) -> Contact {
    var at = bytes
    func next<Value: BitwiseCopyable>(_ type: Value.Type) -> Value {
      defer { at += MemoryLayout<Value>.size }
      return at.loadUnaligned(as: type)
    }
    func text() -> String {
      let count = Int(next(UInt16.self))
      defer { at += count }
      return String(decoding: UnsafeRawBufferPointer(start: at, count: count), as: UTF8.self)
    }
    func place() -> Contact.Geo {
      let (lat, lon) = (next(Double.self), next(Double.self))
      return Contact.Geo(lat: lat, lon: lon, label: next(UInt8.self) == 1 ? text() : nil)
    }
    return Contact(
      id: text(), name: text(), phone: text(), address: text(), city: text(),
      order: next(Int64.self), balance: next(Double.self), updatedAt: next(Double.self),
      tags: (0..<next(UInt8.self)).map { _ in text() }, active: next(UInt8.self) == 1,
      geo: next(UInt8.self) == 1 ? place() : nil)
  }
}
