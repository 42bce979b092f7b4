import Larder
import LarderSync

struct StationPage: Sendable {
  var changed: [Station] = []
  var deletedIDs: [Int] = []
  var cursor: String
  var hasMore = false
}

protocol StationServer: Sendable {
  func stations() async throws -> [Station]
  func station(_ id: Int) async throws -> Station
  /// From the start with none.
  func changes(since token: String?) async throws -> StationPage
}

/// Takes whatever the server has, once an hour at most.
func allStations(
  of stations: any Repository<Station, Station>, from server: some StationServer
) -> RemoteUpdater {
  RemoteUpdater(
    stations, limiter: FetchLimiter(minimumInterval: .seconds(3600)),
    clearBeforeSaving: Station.all
  ) {
    try await server.stations()
  }
}

/// Goes on from where the last sync has ended, also after a restart.
func changedStations(
  of stations: any Repository<Station, Station>, in store: Store, from server: some StationServer
) -> RemoteUpdater {
  RemoteUpdater(
    limiter: FetchLimiter(minimumInterval: .seconds(60), named: "stations", in: store),
    since: SinceToken(named: "stations", in: store)
  ) { token in
    let page = try await server.changes(since: token)
    return .fromRemote(Delta(page, token: page.cursor, isLast: !page.hasMore))
  } save: { page, origin in
    let gone = page.deletedIDs
    return try await stations.save(
      page.changed, clearBeforeSaving: Station.where { $0.id.isIn(gone) }, as: origin)
  }
}

/// Every station has a limiter of its own.
func departures(
  of stations: any Repository<Station, Station>, from server: some StationServer,
  trigger: RefreshTrigger
) -> UpdaterFamily<Int> {
  UpdaterFamily { _ in
    FetchLimiter(minimumInterval: .seconds(30), trigger: trigger)
  } updater: { id, limiter in
    RemoteUpdater(stations, limiter: limiter) { [try await server.station(id)] }
  }
}

/// What the server has answered instead of stations.
struct StationServerError: RetryAdvising {
  let status: Int
  /// The header field `Retry-After`.
  var retryAfter: String?

  var retryAdvice: RetryAdvice { RetryAdvice(httpStatus: status, retryAfter: retryAfter) }
}
