public import Larder
public import Observation

/// A watched query as something that a view observes: its rows, what went wrong last, and whether
/// it is being refreshed.
///
/// ```swift
/// let model = QueryModel(contacts, Contact.all.sorted(by: \.name), refreshedBy: updater)
/// model.start()
/// ...
/// model.query = Contact.where { $0.name.hasPrefix(text) }.sorted(by: \.name)
/// ```
/// The rows change in steps, each of which is one moment of the repository. Failures change no row.
/// A model that is released stops.
@MainActor @Observable
public final class QueryModel<Model: Sendable, Entity: Document> {
  /// The result of ``loadedQuery``; empty until a result was read for the first time.
  public private(set) var rows: Rows<Model> = []
  /// The query that ``rows`` are the result of; nil until they were read for the first time. Behind
  /// ``query`` while a new query is being read.
  public private(set) var loadedQuery: Query<Entity>?
  /// How the rows came to be what they are: the last step, with the offsets that a list needs to
  /// animate it.
  public private(set) var lastChange: ResultChange<Model>?

  @ObservationIgnored private let follower: RequestFollower<Query<Entity>, ResultChange<Model>>
  @ObservationIgnored private let pages: ModelPages
  @ObservationIgnored private let applying: (ResultChange<Model>, () -> Void) -> Void

  /// - Parameters:
  ///   - pageSize: How many rows are shown at first, and more with each ``loadMore()``; nil for all that
  ///     the query selects.
  ///   - updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  ///   - applying: Called for each step with a function that applies it to ``rows``, which it must
  ///     call: `{ _, apply in withAnimation { apply() } }`.
  public convenience init(
    _ repository: any Repository<Model, Entity>, _ query: Query<Entity>,
    pageSize: Int? = nil, refreshedBy updater: (any Updater)? = nil,
    applying: @escaping (ResultChange<Model>, () -> Void) -> Void = { _, apply in apply() }
  ) {
    self.init(query, pageSize, updater, applying) { query, limit in
      guard let limit else { return repository.stream(changesOf: query) }
      return repository.stream(changesOf: query, upTo: limit)
    }
  }

  /// The same for models with what belongs to them, which a change of either makes a step of:
  /// `QueryModel(orders.including(\.contactID, from: contacts), Order.all)`.
  public convenience init<Single, Related>(
    _ joined: JoinedModels<Single, Entity, Related>, _ query: Query<Entity>,
    pageSize: Int? = nil, refreshedBy updater: (any Updater)? = nil,
    applying: @escaping (ResultChange<Model>, () -> Void) -> Void = { _, apply in apply() }
  ) where Model == Included<Single, Related> {
    self.init(query, pageSize, updater, applying) { query, limit in
      guard let limit else { return joined.stream(changesOf: query) }
      return joined.stream(changesOf: query, upTo: limit)
    }
  }

  private init(
    _ query: Query<Entity>, _ pageSize: Int?, _ updater: (any Updater)?,
    _ applying: @escaping (ResultChange<Model>, () -> Void) -> Void,
    stream: @escaping (Query<Entity>, GrowingLimit?) -> EventStream<ResultChange<Model>>
  ) {
    self.applying = applying
    let pages = ModelPages(size: pageSize)
    self.pages = pages
    follower = RequestFollower(query, refreshedBy: updater) { stream($0, pages.limit) }
    follower.take = { [weak self] change, query in self?.take(change, of: query) }
  }

  private func take(_ change: ResultChange<Model>, of query: Query<Entity>) {
    applying(change) {
      rows.apply(change)
      lastChange = change
      loadedQuery = query
    }
  }
}

// MARK: What is shown

extension QueryModel {
  /// What the model shows. You can set it at any time, also before ``start()``.
  ///
  /// After a change the rows stay as they are until the new result was read, and then become it in one
  /// step, an `.initial`. The old result is not kept up to date meanwhile. Queries that follow each
  /// other quickly coalesce: one query is read at a time, and then the last one that was set. Rows of an
  /// older query never come after those of a newer one.
  ///
  /// Setting an equal query does nothing. A model with pages begins with one page again. The updater is
  /// not asked to sync again.
  public var query: Query<Entity> {
    get { follower.request }
    set {
      if newValue != query { pages.reset() }
      follower.follow(newValue)
    }
  }

  /// Whether a stored result was read: until then empty rows mean nothing.
  public var isLoaded: Bool { loadedQuery != nil }

  /// What went wrong last: why the rows could not be read, until they could; or how a refresh has failed, until
  /// one has succeeded. Nil after ``dismissError()``.
  public var lastError: (any Error)? { follower.lastError }

  /// Forgets the last error, once the user has seen it.
  public func dismissError() { follower.dismissError() }
}

// MARK: Pages

extension QueryModel {
  /// Whether ``loadMore()`` may bring more rows. False while it does, and while a new query is read.
  public var mayHaveMore: Bool {
    guard let wanted = pages.rowCount else { return false }
    // Also where a query was changed and set back: it is read anew.
    return rows.count >= wanted && loadedQuery == query && !follower.isReading
  }

  /// Shows one page more: call it when the end of the list comes into sight. Does nothing unless
  /// ``mayHaveMore``, or without a `pageSize`.
  ///
  /// The new rows come as one step, an `.update` that inserts them. A store reads them alone, and not
  /// again what is shown.
  public func loadMore() {
    guard mayHaveMore else { return }
    if !pages.grow() { follower.restart() }
  }
}

// MARK: Working

extension QueryModel {
  /// Begins to watch, and asks the updater to sync; does nothing when it has begun already. After
  /// ``stop()``, or after the store was closed, it begins anew.
  public func start() { follower.start() }

  /// Stops watching. The rows stay as they are.
  public func stop() { follower.stop() }

  /// Whether a refresh is running: one that this model has asked for, or anybody's that goes through
  /// the same limiter.
  public var isRefreshing: Bool { follower.isRefreshing }

  /// How fresh the data are, by the limiter of the updater.
  public var refreshState: RefreshState { follower.refreshState }

  /// Asks the updater to sync, and returns when it has; what goes wrong is ``lastError``, of this model
  /// alone: other models of the same limiter have it in ``lastFailure``.
  public func refresh(_ timing: SyncTiming = .afterNow) async { await follower.refresh(timing) }
}
