internal import Larder
internal import Observation

/// What the models of views have in common: follows the stream of a request, and of the next one when
/// the request changes; asks the updater to sync; keeps what went wrong last.
///
/// One request is read at a time. While it is, only the last request that was made counts, so that who
/// types faster than a store reads waits for at most one read that nobody wants any more. What was read
/// for a request is passed on only as long as it is the last: nothing comes behind something newer.
@MainActor @Observable
final class RequestFollower<Request: Equatable & Sendable, Value: Sendable> {
  private(set) var request: Request
  /// Why the values could not be read, since the last one that could; and how the last refresh has failed.
  private var readError: (any Error)?
  private var refreshError: (any Error)?
  private var isReadErrorLater = false
  /// How fresh the values are, by the limiter of the updater.
  private(set) var refreshState = RefreshState()
  private(set) var refreshCount = 0

  /// Given each value, and the request that it belongs to. Must not hold what holds the follower.
  @ObservationIgnored var take: (Value, Request) -> Void = { _, _ in }
  @ObservationIgnored private let updater: (any Updater)?
  @ObservationIgnored private let stream: (Request) -> EventStream<Value>
  @ObservationIgnored private var watching: ModelWork?
  @ObservationIgnored private var refreshing: ModelWork?
  /// Whether the first event of a stream is awaited, which may be of an earlier request.
  private(set) var isReading = false

  init(
    _ request: Request, refreshedBy updater: (any Updater)?,
    stream: @escaping (Request) -> EventStream<Value>
  ) {
    self.request = request
    self.updater = updater
    self.stream = stream
  }

  func start() {
    if watching == nil { watch() }
  }

  func stop() {
    watching = nil
    refreshing = nil
    // A view that is told of a change draws again, and starts this anew.
    if refreshState.isRefreshing { refreshState.isRefreshing = false }
    if isReading { isReading = false }
  }

  /// Takes another request for the one that is followed.
  func follow(_ request: Request) {
    guard request != self.request else { return }
    self.request = request
    if watching != nil, !isReading { watch() }
  }

  /// Begins the stream of the request anew, which is to give more than before.
  func restart() {
    if watching != nil, !isReading { watch() }
  }

  /// The later of the two errors. Neither takes the other away: a refresh that goes well makes nothing readable.
  var lastError: (any Error)? {
    isReadErrorLater ? readError ?? refreshError : refreshError ?? readError
  }

  func dismissError() {
    readError = nil
    refreshError = nil
  }
}

// MARK: Watching

extension RequestFollower {
  /// Begins the stream of the request in place of the one that is followed.
  private func watch() {
    isReading = true
    // Once the caller is done: of requests that are made in one go the last is read.
    watching = ModelWork(
      Task { [weak self] in
        guard !Task.isCancelled, let (request, events) = self?.begin() else { return }
        for await event in events {
          guard let self, !Task.isCancelled, hear(event, of: request) else { return }
        }
        // Of a task that was cancelled somebody else has taken the place.
        if !Task.isCancelled { self?.ended(request) }
      })
  }

  private func begin() -> (Request, EventStream<Value>) { (request, stream(request)) }

  /// The stream of a request has come to its end.
  private func ended(_ request: Request) {
    // Nothing came of it, and something else is wanted by now.
    if isReading, request != self.request { watch() } else { stop() }
  }

  /// - Returns: Whether the stream is still the one to follow.
  private func hear(_ event: Event<Value>, of request: Request) -> Bool {
    if isReading {
      isReading = false
      if request != self.request {
        watch()
        return false
      }
    }
    switch event {
    case .value(let value):
      // A view that is told of a change draws again.
      if readError != nil { readError = nil }
      take(value, request)
    case .refresh(let state): refreshState = state
    case .failure(let error):
      (readError, isReadErrorLater) = (error, true)
      // Nobody would see what is refreshed.
      if error as? StoreError == .closed { return true }
    }
    refreshOnce()
    return true
  }
}

// MARK: Refreshing

extension RequestFollower {
  /// Whether a refresh is running: one that this model has asked for, or anybody's that goes through
  /// the same limiter.
  var isRefreshing: Bool { refreshCount > 0 || refreshState.isRefreshing }

  func refresh(_ timing: SyncTiming) async {
    guard let updater else { return }
    refreshBegan()
    do {
      let status = try await updater.sync(timing)
      await readState(of: updater)
      refreshEnded(status)
    } catch {
      await readState(of: updater)
      refreshEnded(nil)
      // A cancellation is the caller's own, or somebody's on purpose.
      if !(error is CancellationError) { refreshFailed(error) }
    }
  }

  /// The limiter tells of its state by itself, but not before ``refresh(_:)`` returns.
  private func readState(of updater: any Updater) async {
    guard let schedule = updater.schedule else { return }
    var state = await Self.state(of: schedule)
    // Of a model that has stopped nobody would take it back.
    if refreshing == nil { state.isRefreshing = false }
    refreshState = state
  }

  /// Reads the store, which is not for the main actor.
  @concurrent private static func state(of schedule: FetchLimiter) async -> RefreshState {
    schedule.refreshState
  }

  /// Has the updater sync, once for each start, and again when its limiter says so. A stream of its own, which goes on when the request
  /// changes: a search is no reason to ask the remote.
  private func refreshOnce() {
    guard let updater, refreshing == nil else { return }
    let told = ToldRefresh(
      updater: updater, began: { [weak self] in self?.refreshBegan() },
      ended: { [weak self] status in self?.refreshEnded(status) })
    let events = EventStream(WatchSequence<Void>.single, told, clock: SystemClock())
    refreshing = ModelWork(
      Task { [weak self] in
        for await event in events {
          guard let self, !Task.isCancelled else { return }
          switch event {
          case .value: break
          case .failure(let error): refreshFailed(error)
          case .refresh(let state): refreshState = state
          }
        }
      })
  }

  private func refreshBegan() { refreshCount += 1 }

  /// - Parameter status: Nil for one that failed.
  private func refreshEnded(_ status: UpdateStatus?) {
    refreshCount -= 1
    if let status, status != .skipped, refreshError != nil { refreshError = nil }
  }

  private func refreshFailed(_ error: any Error) {
    (refreshError, isReadErrorLater) = (error, false)
  }
}
