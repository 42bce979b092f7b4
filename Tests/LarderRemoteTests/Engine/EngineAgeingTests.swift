import Larder
import LarderRemote
import LarderTesting
import Testing

@Document private struct Headline: Equatable {
  var id: String
  var rank = 0

  static let ageing: [Ageing<Headline>] = [.keepNewest(50, by: \.rank)]
}

@Suite struct EngineAgeingTests {
  @Test("what is loaded ages as what is saved does, and is not loaded again")
  func ages() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server, collections: [SyncedCollection(Headline.self)])
    for round in 0..<10 {
      for number in 0..<20 {
        let rank = round * 20 + number
        _ = server.put(
          RemoteKey("Headline", "h\(rank)"),
          RemoteDocument(#"{"id":"h\#(rank)","rank":\#(rank)}"#), in: "all")
      }
      try await desk.sync()
    }
    try await desk.sync()

    let headlines = desk.store.repository(of: Headline.self)
    #expect(
      try headlines.fetch(Headline.all.sorted(by: \.rank)).map(\.rank) == Array(150..<200))
    #expect(try desk.store.statistics().syncByteCount > 0)
    try desk.close()
  }
}
