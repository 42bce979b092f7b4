import Foundation
import Larder
import LarderRemote
import LarderTesting
import Testing

/// Fields of every kind that JSON has no word for, too.
@Document struct Specimen: Equatable {
  var id: UUID
  var small: Int8
  var large: UInt64
  var single: Float
  var double: Double
  var isOn: Bool
  var text: String
  var data: Data
  var date: Date
  var url: URL?
  var decimal: Decimal
  var maybe: Int?
  var twice: Int??
  var texts: [String]
  var rows: [[Double]?]
  var numbers: Set<Int>
  var counts: [String: Int]
  var places: [Int: Spot]
  var spot: Spot?
}

@Suite("documents of every kind, by way of a remote", .timeLimit(.minutes(20)))
struct EngineKindTests {
  private let server = InMemoryRemote()

  private func specimens() -> [Specimen] {
    let doubles: [Double] = [
      0, -0.0, 0.1, -1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 9_007_199_254_740_992,
      1e21,
    ]
    let texts: [String] = [
      "", "é", "e\u{301}", "\u{0}\u{1F}\"\\/", "\u{2028}", "😀", "null",
      String(repeating: "x", count: 999),
    ]
    let integers: [Int] = [0, .min, .max, -1, 1 << 53, (1 << 53) + 1, 7, 8]
    return (0..<8).map { (place: Int) -> Specimen in
      Specimen(
        id: UUID(), small: place.isMultiple(of: 2) ? .min : .max,
        large: place.isMultiple(of: 2) ? .max : UInt64(place),
        single: place == 3 ? .leastNonzeroMagnitude : Float(place) / 3, double: doubles[place],
        isOn: place.isMultiple(of: 3), text: texts[place],
        data: Data((0..<UInt8(place * 31)).reversed()),
        date: Date(
          timeIntervalSinceReferenceDate: doubles[place] / 3 < 1e9
            ? doubles[place] / 3 : 0.123_456_789),
        url: place == 0 ? nil : URL(string: "https://example.org/ä?q=\(place)#f"),
        decimal: Decimal(string: "-0.\(String(repeating: "123456789", count: 4))\(place)") ?? 0,
        maybe: place.isMultiple(of: 2) ? nil : integers[place],
        twice: place == 1 ? .some(nil) : place == 2 ? .some(.some(2)) : nil,
        texts: Array(texts.prefix(place)), rows: [nil, [], [doubles[place]]],
        numbers: Set(integers.prefix(place)), counts: [texts[place]: integers[place]],
        places: [integers[place]: Spot(x: place, y: -place)],
        spot: place == 5 ? nil : Spot(x: integers[place], y: 0))
    }
  }

  @Test("what one client saves another reads, to the last bit")
  func roundTrip() async throws {
    let collections = [SyncedCollection(Specimen.self)]
    let phone = try SyncDesk(server, collections: collections)
    let tablet = try SyncDesk(server, collections: collections)
    let specimens = specimens()
    try await phone.store.repository(of: Specimen.self).save(specimens)

    try await phone.sync()
    try await tablet.sync()

    #expect(try phone.engine.pending().isEmpty && tablet.engine.refused().isEmpty)
    for specimen in specimens {
      let read = try tablet.store.repository(of: Specimen.self).get(specimen.id)
      #expect(read == specimen)
      #expect(read?.double.sign == specimen.double.sign)
      #expect(read.map { Array($0.text.utf8) } == Array(specimen.text.utf8))
    }
    try phone.close()
    try tablet.close()
  }
}
