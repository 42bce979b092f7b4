import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct UpdaterExampleTests {
  private struct Server: StationServer {
    let asked = Log()

    func stations() async throws -> [Station] {
      [Station(id: 1, name: "Oslo S"), Station(id: 2, name: "Bergen")]
    }

    func station(_ id: Int) async throws -> Station {
      asked.add("\(id)")
      return Station(id: id, name: "Station \(id)")
    }

    func changes(since token: String?) async throws -> StationPage {
      asked.add(token ?? "start")
      return switch token {
      case nil:
        StationPage(changed: try await stations(), cursor: "a", hasMore: true)
      case "a":
        StationPage(
          changed: [Station(id: 3, name: "Moss")], deletedIDs: [2], cursor: "b")
      default: StationPage(cursor: "b")
      }
    }
  }

  @Test("the article's updater of a source brings what it has, and clears what it has not")
  func all() async throws {
    try await withTemporaryStore { store in
      let stations: any Repository<Station, Station> = store.repository(of: Station.self)
      try await stations.save(Station(id: 9, name: "gone"))

      let status = try await allStations(of: stations, from: Server()).sync()

      #expect(status == .updated)
      let names = try stations.fetch(Station.all).map(\.name)
      #expect(names == ["Oslo S", "Bergen"])
    }
  }

  @Test("the article's updater of changes saves and deletes page by page, and goes on from there")
  func changes() async throws {
    try await withTemporaryStore { store in
      let stations: any Repository<Station, Station> = store.repository(of: Station.self)
      let server = Server()

      let status = try await changedStations(of: stations, in: store, from: server).sync()
      let later = changedStations(of: stations, in: store, from: server)
      let laterStatus = try await later.sync(.afterNow)

      #expect([status, laterStatus] == [.updated, .alreadyCurrent])
      let ids = try stations.fetch(Station.all).map(\.id)
      #expect(ids == [1, 3])
      #expect(server.asked.lines == ["start", "a", "b"])
    }
  }

  @Test("the article's family refreshes one station at a time")
  func family() async throws {
    try await withTemporaryStore { store in
      let stations: any Repository<Station, Station> = store.repository(of: Station.self)
      var server = Server()
      var start = ContinuousClock.now
      repeat {
        server = Server()
        start = .now
        let family = departures(of: stations, from: server, trigger: RefreshTrigger())
        for id in [7, 8, 7] { try await family[id].sync() }
        // Where it took so long, the family's interval may have passed, and one more request is right.
      } while ContinuousClock.now - start > .seconds(20)

      #expect(server.asked.lines == ["7", "8"])
      let ids = try stations.fetch(Station.all).map(\.id)
      #expect(ids == [7, 8])
    }
  }

  @Test("the article's error keeps streams from asking again too early, or at all")
  func retryAdvice() {
    #expect(StationServerError(status: 404).retryAdvice == .whenTriggered)
    let busy = StationServerError(status: 503, retryAfter: "120")
    #expect(busy.retryAdvice == .after(.seconds(120)))
  }
}
