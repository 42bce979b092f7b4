import CBench
import Larder

/// The document of the benchmark: eleven fields, as an address book of an app would have them.
@Document
struct Contact: Equatable, Sendable, Codable, Identifiable {
  var id: String
  var name: String
  var phone: String
  var address: String
  var city: String
  var order: Int64
  var balance: Double
  var updatedAt: Double
  var tags: [String]
  var active: Bool
  var geo: Geo?

  @EmbeddedDocument
  struct Geo: Equatable, Sendable, Codable {
    var lat: Double
    var lon: Double
    var label: String?
  }
}

extension Contact {
  init(_ raw: bench_contact) {
    self = withUnsafePointer(to: raw) { raw in
      func text(_ field: Int) -> String {
        let bytes = bench_contact_text(raw, Int32(field))
        return String(
          decoding: UnsafeBufferPointer(start: bytes.start, count: bytes.count), as: UTF8.self)
      }
      func text(_ field: bench_field) -> String { text(Int(field.rawValue)) }
      let contact = raw.pointee
      return Contact(
        id: text(BENCH_ID), name: text(BENCH_NAME), phone: text(BENCH_PHONE),
        address: text(BENCH_ADDRESS), city: text(BENCH_CITY), order: contact.order,
        balance: contact.balance, updatedAt: contact.updated_at,
        tags: (0..<Int(contact.tag_count)).map { text(Int(BENCH_FIRST_TAG.rawValue) + $0) },
        active: contact.active,
        geo: contact.has_geo
          ? Geo(
            lat: contact.latitude, lon: contact.longitude,
            label: contact.has_label ? text(BENCH_LABEL) : nil)
          : nil)
    }
  }
}

// Checksums, as the C half's checksum.c defines them.
extension Contact {
  /// Cheap enough to stand inside a timed loop: the numbers and the sizes of the texts.
  var glance: UInt64 {
    let sizes =
      id.utf8.count + 3 * name.utf8.count + 5 * address.utf8.count + 7 * city.utf8.count
      + 11 * tags.count
    return UInt64(bitPattern: order) &+ balance.bitPattern &+ updatedAt.bitPattern
      &+ UInt64(sizes)
  }

  /// Of everything in a contact. Sums of it, with `&+`, do not depend on the order of the contacts.
  var digest: UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01B3 }
    func mix(_ text: String) {
      for byte in text.utf8 { mix(UInt64(byte)) }
      mix(0xFF)
    }
    for text in [id, name, phone, address, city, geo?.label ?? ""] + tags { mix(text) }
    mix(UInt64(bitPattern: order))
    mix(balance.bitPattern)
    mix(updatedAt.bitPattern)
    mix(geo?.lat.bitPattern ?? 0)
    mix(geo?.lon.bitPattern ?? 0)
    let present: UInt64 = (geo == nil ? 0 : 2) | (geo?.label == nil ? 0 : 4)
    mix((active ? 1 : 0) | present | UInt64(tags.count) << 3)
    return hash
  }
}
