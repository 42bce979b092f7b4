import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct ChecksumTests {
  static let vectors: [(seed: UInt64, text: String, hash: UInt64)] = [
    (0, "", 0x9322_8a4d_e0ee_c5a2),
    (1, "a", 0xc5ba_c3db_1787_13c4),
    (2, "abc", 0xa97f_2f7b_1d9b_3314),
    (3, "message digest", 0x786d_1f1d_f380_1df4),
    (4, "abcdefghijklmnopqrstuvwxyz", 0xdca5_a813_8ad3_7c87),
    (
      5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      0xb9e7_34f1_17cf_af70
    ),
    (6, String(repeating: "1234567890", count: 8), 0x6cc5_eab4_9a92_d617),
  ]

  @Test("the hash is the published wyhash, final version 4", arguments: vectors)
  func published(seed: UInt64, text: String, hash: UInt64) {
    var text = text

    let found = text.withUTF8 { Checksum.hash(UnsafeRawBufferPointer($0), seed: seed) }

    #expect(found == hash)
  }

  @Test("any single bit that changes in bytes of any length changes the hash")
  func bits() {
    var random = RandomSource()
    for count in Array(1...66) + [96, 97, 144, 1000] {
      var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let hash = bytes.withUnsafeBytes { Checksum.hash($0, seed: 7) }
      for bit in 0..<count * 8 {
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(bytes.withUnsafeBytes { Checksum.hash($0, seed: 7) } != hash, "\(random.hint)")
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      }
    }
  }

  @Test("a record that lands under another key is refused")
  func otherKey() throws {
    let store = try Store.temporary()
    let ones = store.repository(of: One<Int>.self)
    try ones.save([One(1, id: "a"), One(2, id: "b")])
    let record = try #require(try store.recordBytes(of: "a", in: "One"))

    try store.forceRecord(record, under: "b", in: "One")

    #expect(
      throws: StoreError.damagedRecord(collection: "One", key: "\"b\"", reason: .checksum)
    ) { try ones.get("b") }
    #expect(throws: StoreError.self) { try ones.fetch(One<Int>.all) }
    #expect(try ones.get("a") == One(1, id: "a"))
    #expect(try store.check().problems.count == 1)
    try store.close()
  }

  @Test("a record that lands in another collection is refused")
  func otherCollection() throws {
    let store = try Store.temporary()
    try store.repository(of: One<String>.self).save(One("x"))
    try store.repository(of: Keyed<String>.self).save(Keyed("a", note: "x"))
    let record = try #require(try store.recordBytes(of: "a", in: "One"))

    try store.forceRecord(record, under: "a", in: "Keyed")

    #expect(
      throws: StoreError.damagedRecord(collection: "Keyed", key: "\"a\"", reason: .checksum)
    ) { try store.repository(of: Keyed<String>.self).get("a") }
    try store.close()
  }

  @Test("saving a document over its damaged record mends it")
  func mended() throws {
    try withTemporaryStore { store in
      let ones = store.repository(of: One<Int>.self)
      try ones.save(One(1))
      try store.forceRecord([1, 2, 3], under: "a", in: "One")

      let report = try ones.save(One(1))

      #expect(report.updated == 1)
      #expect(try ones.get("a") == One(1))
    }
  }
}
