import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct DocumentKeyTests {
  private func encoded(_ key: some DocumentKey) -> [UInt8] { key.withEncodedKey { [UInt8]($0) } }

  @Test("the composed and the decomposed spelling of a name are one key")
  func normalisation() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: Keyed<String>.self)
      try documents.save([Keyed("Zo\u{EB}", note: "1"), Keyed("Zoe\u{308}", note: "2")])

      #expect(try documents.count() == 1)
      #expect(try documents.get("Zoe\u{308}")?.note == "2")
      #expect(try documents.get("Zo\u{EB}")?.note == "2")
      #expect(try documents.get("Zoe") == nil)
      #expect(try documents.delete(keys: ["Zo\u{EB}"]) == 1)
    }
  }

  @Test("two strings are equal in Swift exactly when their keys are, for every scalar")
  func scalars() {
    var differing: [String] = []
    var changed = 0
    // No scalar above is assigned, but for tags and private ones, which compose with nothing.
    for value in 0..<UInt32(0x32000) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      let key = text.normalized()
      // The key equals the text, and what equals it canonically has the same key.
      let decomposed = text.decomposedStringWithCanonicalMapping
      guard !key.utf8.elementsEqual(text.utf8) || !decomposed.utf8.elementsEqual(text.utf8) else {
        continue
      }
      changed += 1
      if key != text || decomposed != text || encoded(decomposed) != encoded(text) {
        differing.append(String(value, radix: 16))
      }
    }
    #expect(differing == [])
    // 2,081 scalars with a canonical decomposition in Unicode 15 and 11,172 Hangul syllables.
    #expect(changed > 13_000)
  }

  @Test("random sequences of letters and marks are one key exactly when Swift calls them equal")
  func sequences() {
    var random = RandomSource()
    let common: [Unicode.Scalar] = [
      "a", "e", "\u{301}", "\u{308}", "\u{323}", "\u{327}", "\u{E9}", "\u{1EC7}", "\u{212B}",
      "\u{C5}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", "\u{FB1D}",
      "\u{0344}", "\u{1D15E}", "\u{2ADC}", "\u{F900}", "\u{8C48}", "\u{345}", "\u{3B1}", "\u{1F80}",
    ]
    let rare = (0..<UInt32(0x30000)).compactMap(Unicode.Scalar.init).filter {
      $0.properties.canonicalCombiningClass != .notReordered && isSettled($0)
    }
    func text() -> String {
      let scalars = random.once(in: 3) ? rare : common
      var text = String.UnicodeScalarView()
      for _ in 0..<random.int(1..<6) { text.append(scalars[random.int(0..<scalars.count)]) }
      return String(text)
    }
    for _ in 0..<20_000 {
      let (left, right) = (text(), text())
      let spelled =
        random.bool()
        ? left.decomposedStringWithCanonicalMapping : left.precomposedStringWithCanonicalMapping
      let (leftKey, rightKey) = (encoded(left), encoded(right))
      #expect((left == right) == (leftKey == rightKey), "\(random.hint)")
      // Of strings that are not composed Swift calls some neither smaller nor greater, others
      // smaller though their composed spellings are greater; keys have the order of those.
      let precedes = left.normalized() < right.normalized()
      #expect(precedes == leftKey.lexicographicallyPrecedes(rightKey), "\(random.hint)")
      #expect(encoded(spelled) == leftKey, "\(random.hint)")
    }
  }

  /// Whether Foundation and the standard library have the same idea of a scalar: newer versions
  /// of Unicode reached them at different times.
  private func isSettled(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.age.map { ($0.major, $0.minor) <= (13, 0) } ?? false
  }

  @Test("a Hangul syllable and a final consonant behind it are the key of the whole syllable")
  func hangul() {
    for syllable in ["\u{AC01}", "\u{D7A3}"] {
      let scalars = syllable.decomposedStringWithCanonicalMapping.unicodeScalars.map(String.init)
      let halves = (scalars[0] + scalars[1]).precomposedStringWithCanonicalMapping + scalars[2]
      #expect(halves == syllable)
      #expect(encoded(halves) == encoded(syllable))
    }
  }

  @Test("keys are in the order of their values")
  func order() throws {
    var random = RandomSource()
    func check<Key: DocumentKey & Storable & Comparable>(
      _ keys: [Key], _ hint: String, by precedes: (Key, Key) -> Bool = { $0 < $1 }
    ) throws {
      try withTemporaryStore { store in
        let documents = store.repository(of: Keyed<Key>.self)
        try documents.save(keys.map { Keyed($0) })

        let found = try documents.fetch(Keyed<Key>.all).map(\.key)

        #expect(found == Set(keys).sorted(by: precedes), "\(hint)")
        for key in keys { #expect(try documents.get(key)?.key == key, "\(hint)") }
      }
    }
    let hint = random.hint
    try check(random.array(200..<201) { Int($0.integer()) } + [.min, -1, 0, 1, .max], hint)
    try check(random.array(200..<201) { UInt64(bitPattern: $0.integer()) } + [0, .max], hint)
    try check(random.array(200..<201) { Int8(truncatingIfNeeded: $0.next()) }, hint)
    try check(random.array(200..<201) { UInt16(truncatingIfNeeded: $0.next()) }, hint)
    try check(random.array(200..<201) { $0.uuid() }, hint)
    // Swift's own order is none for some strings that are not composed.
    try check(random.array(200..<201) { "x" + $0.text(upTo: 12) }, hint) {
      $0.precomposedStringWithCanonicalMapping < $1.precomposedStringWithCanonicalMapping
    }
  }

  @Test("a key of 255 bytes is saved; an empty and a longer one are refused by name and limit")
  func lengths() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: Keyed<String>.self)
      let longest = String(repeating: "k", count: 255)
      try documents.save(Keyed(longest))

      #expect(
        throws: StoreError.keyLength(
          collection: "Keyed", key: Value.string(longest + "k").description, byteCount: 256,
          limit: 255)
      ) { try documents.save([Keyed("ok"), Keyed(longest + "k")]) }
      #expect(
        throws: StoreError.keyLength(
          collection: "Keyed", key: "\"\"", byteCount: 0, limit: 255)
      ) { try documents.save(Keyed("")) }

      #expect(try documents.get(longest)?.key == longest)
      #expect(try documents.get(longest + "k") == nil)
      #expect(try documents.get("") == nil)
      #expect(try documents.delete(keys: ["", longest + "k"]) == 0)
      #expect(try documents.count() == 1)
    }
  }

  @Test("the length of a key is that of its composed form")
  func composedLength() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: Keyed<String>.self)
      let name = String(repeating: "e\u{301}", count: 127)

      try documents.save(Keyed(name))

      #expect(try documents.get(String(repeating: "\u{E9}", count: 127))?.key == name)
    }
  }

  @Test("an enum or a struct with a raw value is a key, as its raw value would be")
  func rawValues() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: Keyed<Genre>.self)
      try documents.save([Keyed(Genre.prose, note: "p"), Keyed(.verse, note: "v")])

      #expect(try documents.get(.verse)?.note == "v")
      #expect(try store.repository(of: Keyed<String>.self).get("prose")?.note == "p")
      #expect(try store.collection("Keyed").get("verse")?["note"] == "v")
    }
  }

  @Test("keys of another kind than the collection's are refused, and nothing is changed")
  func otherKind() throws {
    try withTemporaryStore { store in
      try store.repository(of: Keyed<String>.self).save(Keyed("1"))
      let numbers = store.repository(of: Keyed<Int>.self)
      let error = StoreError.keyKind(collection: "Keyed", stored: .string, found: .integer)

      #expect(throws: error) { try numbers.save(Keyed(1)) }
      #expect(throws: error) { try numbers.get(1) }
      #expect(try store.repository(of: Keyed<String>.self).count() == 1)
    }
  }

  @Test("an encoded key gives its value back, and other bytes give none")
  func decoding() {
    var random = RandomSource()
    func check(_ key: some DocumentKey, _ kind: KeyKind, _ value: Value) {
      key.withEncodedKey { #expect(kind.value(of: $0) == value, "\(random.hint)") }
    }
    for _ in 0..<500 {
      let (number, id, text) = (random.integer(), random.uuid(), random.text())
      check(number, .integer, .integer(number))
      check(UInt64(bitPattern: number), .unsigned, Value(UInt64(bitPattern: number)))
      check(id, .uuid, .uuid(id))
      check(text, .string, .string(text))
    }
    [UInt8](repeating: 0xFF, count: 7).withUnsafeBytes { bytes in
      for kind in KeyKind.allCases {
        #expect(kind.value(of: bytes) == nil)
        #expect(kind.text(of: bytes) == "ff ff ff ff ff ff ff")
      }
    }
  }
}

private enum Genre: String, DocumentKey, Storable { case prose, verse }
