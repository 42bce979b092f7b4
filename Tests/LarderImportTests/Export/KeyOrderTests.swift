import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Document
private struct KeyHolder: Identifiable, Equatable {
  var id: Int
  var plain: [String: Int]
  var any: AnyKeys?
}

/// Of any kind, and read by nobody.
private struct AnyKeys: Codable, Equatable, Sendable {
  init(from decoder: any Decoder) throws {}

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

@Suite("The order of a dictionary's keys in an export")
struct KeyOrderTests {
  @Test(
    "keys stand in the order of their bytes, normalized or not", arguments: ExportFormat.allCases)
  func order(format: ExportFormat) throws {
    // Swift says of neither pair which one is less.
    let keys = ["e\u{301}", "\u{e9}2", "e\u{301}3", "f", "z"]
    let scratch = try ScratchFolder()
    let file = scratch.file("d.\(format.rawValue)")
    var texts: Set<[UInt8]> = []
    // The order of a dictionary's hash table is another one in each.
    for _ in 0..<12 {
      try withTemporaryStore { store in
        let pairs = keys.map { (Value.string($0), Value.integer(1)) }
        let plain = Dictionary(uniqueKeysWithValues: pairs)
        // Not all of its keys are text, so that it gets a tag.
        let tagged = plain.merging([.integer(1): 1]) { first, _ in first }
        try store.declare(KeyHolder.self)
        try store.collection("KeyHolder").save(
          [["id": 1, "plain": .dictionary(plain), "any": .dictionary(tagged)]])

        try store.export(KeyHolder.all, as: format, to: .file(file))

        texts.insert([UInt8](try Data(contentsOf: file)))
      }
    }
    #expect(texts.count == 1)
    let text = String(decoding: try #require(texts.first), as: UTF8.self)
    let places = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .compactMap { key in text.utf8.firstRange(of: "\(key)\"".utf8)?.lowerBound }
    #expect(places.count == keys.count && places == places.sorted())
  }
}
