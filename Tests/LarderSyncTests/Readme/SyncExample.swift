import Foundation
import Larder
import LarderSync

@Document
struct Station: Codable, Identifiable, Equatable {
  var id: Int
  var name: String
}

/// However many screens ask, one request is made, and none within a quarter of an hour.
func updater(
  of stations: any Repository<Station, Station>, in store: Store,
  download: @escaping @Sendable () async throws -> Data
) -> RemoteUpdater {
  let limiter = FetchLimiter(minimumInterval: .seconds(900), named: "stations", in: store)
  return RemoteUpdater(limiter: limiter) {
    .fromRemote(try await download())
  } decode: { data in
    try JSONDecoder().decode([Station].self, from: data)
  } save: { page, origin in
    try await stations.save(page, clearBeforeSaving: Station.all, as: origin)
  }
}

/// Shows what is stored at once, then every change; failures are messages and end nothing.
func show(
  _ stations: any Repository<Station, Station>, refreshedBy updater: some Updater,
  _ presenter: some MessagePresenter, on screen: (Rows<Station>) -> Void
) async {
  let events = stations.stream(Station.all.sorted(by: \.name), refreshedBy: updater)
  for await stations in events.flatMapError({ await presenter.showMessage("\($0)") }) {
    screen(stations)
  }
}

/// The app makes one trigger at launch, `RefreshTrigger(NetworkReachability())`, and calls its `fire()`
/// when it becomes active.
func limiter(in store: Store, listeningTo trigger: RefreshTrigger) -> FetchLimiter {
  FetchLimiter(
    minimumInterval: .seconds(900), named: "stations", in: store,
    retrying: Backoff(first: .seconds(1), longest: .seconds(300)), trigger: trigger)
}
