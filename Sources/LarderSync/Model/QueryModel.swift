public import Larder
public import Observation

/// A watched query as something that a view observes: its rows, what went wrong last, and whether
/// it is being refreshed.
///
/// ```swift
/// let model = QueryModel(contacts, Contact.all.sorted(by: \.name), refreshedBy: updater)
/// model.start()
/// ```
/// The rows change in steps, each of which is one moment of the repository. Failures change no row.
/// A model that is let go of stops.
@MainActor @Observable
public final class QueryModel<Model: Sendable> {
  /// What the query selects; empty until it was read for the first time.
  public private(set) var rows: Rows<Model> = []
  /// Whether the stored result was read: until then empty rows mean nothing.
  public private(set) var isLoaded = false
  /// What went wrong last; nil after a refresh that went well, and after ``dismissError()``.
  public private(set) var lastError: (any Error)?
  /// How the rows came to be what they are: the last step, with the offsets that a list needs to
  /// animate it.
  public private(set) var lastChange: ResultChange<Model>?
  /// Whether a refresh that this model has asked for, or joined, is running.
  public var isRefreshing: Bool { refreshCount > 0 }

  private var refreshCount = 0
  @ObservationIgnored private let updater: (any Updater)?
  @ObservationIgnored private let makeEvents: ((any Updater)?) -> EventStream<ResultChange<Model>>
  @ObservationIgnored private let applying: (ResultChange<Model>, () -> Void) -> Void
  @ObservationIgnored private var work: ModelWork?

  /// - Parameters:
  ///   - updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  ///   - applying: Called for each step with a function that applies it to ``rows``, which it must
  ///     call: `{ _, apply in withAnimation { apply() } }`.
  public init<Entity>(
    _ repository: any Repository<Model, Entity>, _ query: Query<Entity>,
    refreshedBy updater: (any Updater)? = nil,
    applying: @escaping (ResultChange<Model>, () -> Void) -> Void = { _, apply in apply() }
  ) {
    self.updater = updater
    self.applying = applying
    makeEvents = { repository.stream(changesOf: query, refreshedBy: $0) }
  }

  /// Begins to watch, and asks the updater to sync; does nothing when it has begun already. After
  /// ``stop()``, or after the store was closed, it begins anew.
  public func start() {
    guard work == nil else { return }
    let refresh = updater.map { updater in
      // Not one that holds the model: a sync may take long, and nobody look any more.
      ToldRefresh(
        updater: updater, began: { [weak self] in self?.refreshBegan() },
        ended: { [weak self] status in self?.refreshEnded(status) })
    }
    let events = makeEvents(refresh)
    work = ModelWork(
      Task { [weak self] in
        for await event in events {
          guard let self, !Task.isCancelled else { return }
          take(event)
        }
        // Of a task that was cancelled somebody else has taken the place.
        if !Task.isCancelled { self?.work = nil }
      })
  }

  /// Stops watching. The rows stay as they are.
  public func stop() { work = nil }

  /// Asks the updater to sync, and returns when it has; what goes wrong is ``lastError``.
  public func refresh(_ timing: SyncTiming = .afterNow) async {
    guard let updater else { return }
    refreshBegan()
    do {
      refreshEnded(try await updater.sync(timing))
    } catch {
      refreshEnded(nil)
      // A cancellation is the caller's own, or somebody's on purpose.
      if !(error is CancellationError) { lastError = error }
    }
  }

  /// Forgets the last error, once the user has seen it.
  public func dismissError() { lastError = nil }

  private func refreshBegan() { refreshCount += 1 }

  /// - Parameter status: Nil for one that failed.
  private func refreshEnded(_ status: UpdateStatus?) {
    refreshCount -= 1
    if let status, status != .skipped { lastError = nil }
  }

  private func take(_ event: Event<ResultChange<Model>>) {
    switch event {
    case .failure(let error): lastError = error
    case .value(let change):
      applying(change) {
        rows.apply(change)
        lastChange = change
        isLoaded = true
      }
    }
  }
}

/// Tells the model of the sync that its stream asks for. Joins others: a view that appears while
/// somebody else refreshes shows that, and what comes of it.
private struct ToldRefresh: Updater {
  let updater: any Updater
  let began: @MainActor @Sendable () -> Void
  let ended: @MainActor @Sendable (UpdateStatus?) -> Void

  func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    await began()
    do {
      let status = try await updater.sync(.joining)
      await ended(status)
      return status
    } catch {
      await ended(nil)
      throw error
    }
  }
}

/// A task that ends when the model that owns it does.
private final class ModelWork: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }
}
