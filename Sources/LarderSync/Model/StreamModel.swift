public import Larder
public import Observation

/// A stream as something that a view observes: its last value, what went wrong last, and whether it is
/// being refreshed.
///
/// ```swift
/// let contact = StreamModel(contacts, key: id)
/// let cities = StreamModel(contacts, sections: Contact.all.sorted(by: \.name), by: \.city)
/// let openCount = StreamModel(Order.where { $0.isOpen }, initially: 0) { query in
///   EventStream(orders.watchCount(query))
/// }
/// ```
/// What the stream is asked for can change, as with ``QueryModel``, which is the model for lists.
/// Failures leave the value as it is. A model that is released stops.
@MainActor @Observable
public final class StreamModel<Request: Equatable & Sendable, Value: Sendable> {
  /// The last value of the stream of ``loadedRequest``; what the model was made with until there is one.
  public private(set) var value: Value
  /// The request that ``value`` belongs to; nil until there was a value. Behind ``request`` while the
  /// value of a new request is being read.
  public private(set) var loadedRequest: Request?

  @ObservationIgnored private let follower: RequestFollower<Request, Value>

  /// - Parameters:
  ///   - value: What ``value`` is until the stream has given one.
  ///   - updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  ///   - stream: The stream of a request. It should not ask an updater itself: changing the request
  ///     would have it asked again. It should begin with an event at once, as a store's streams do: the next
  ///     request is not followed before that.
  public init(
    _ request: Request, initially value: Value, refreshedBy updater: (any Updater)? = nil,
    stream: @escaping (Request) -> EventStream<Value>
  ) {
    self.value = value
    follower = RequestFollower(request, refreshedBy: updater, stream: stream)
    follower.take = { [weak self] value, request in
      self?.value = value
      self?.loadedRequest = request
    }
  }
}

extension StreamModel {
  /// What the stream is asked for: a key, or a query. You can set it at any time, also before
  /// ``start()``.
  ///
  /// After a change the value stays as it is until the new one was read. Requests that follow each other
  /// quickly coalesce, and a value of an older one never comes after that of a newer one. Setting an
  /// equal request does nothing, and the updater is not asked to sync again.
  public var request: Request {
    get { follower.request }
    set { follower.follow(newValue) }
  }

  /// Whether the stream has given a value.
  public var isLoaded: Bool { loadedRequest != nil }

  /// What went wrong last: why the value could not be read, until one could; or how a refresh has failed, until
  /// one has succeeded. Nil after ``dismissError()``.
  public var lastError: (any Error)? { follower.lastError }

  /// Forgets the last error, once the user has seen it.
  public func dismissError() { follower.dismissError() }

  /// Begins to watch, and asks the updater to sync; does nothing when it has begun already. After
  /// ``stop()``, or after the store was closed, it begins anew.
  public func start() { follower.start() }

  /// Stops watching. The value stays as it is.
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

// MARK: One document

/// The model of one document, nil where there is none: `StreamModel(contacts, key: id)`.
public typealias KeyModel<Model: Sendable, Entity: Document> = StreamModel<Entity.Key, Model?>

extension StreamModel {
  /// What is stored under a key, nil where there is nothing.
  ///
  /// - Parameter updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  public convenience init<Model: Sendable, Entity: Document>(
    _ repository: any Repository<Model, Entity>, key: Entity.Key,
    refreshedBy updater: (any Updater)? = nil
  ) where Request == Entity.Key, Value == Model? {
    self.init(key, initially: nil, refreshedBy: updater) { repository.stream(key: $0) }
  }
}

// MARK: Sections

/// The model of a list in sections by a field:
/// `StreamModel(contacts, sections: Contact.all.sorted(by: \.name), by: \.city)`.
public typealias SectionModel<Key: Sendable, Entity: Document> =
  StreamModel<Query<Entity>, Rows<RowSection<Key, Entity>>>

extension StreamModel {
  /// What a query selects, in sections by a field.
  ///
  /// - Parameter updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  public convenience init<Key: Comparand & Comparable, Entity: Document>(
    _ repository: any Repository<Entity, Entity>, sections query: Query<Entity>,
    by path: any KeyPath<Entity, Key> & Sendable, refreshedBy updater: (any Updater)? = nil
  ) where Request == Query<Entity>, Value == Rows<RowSection<Key, Entity>> {
    self.init(query, initially: [], refreshedBy: updater) {
      repository.stream(sections: $0, by: path)
    }
  }

  /// What a query selects, in sections by a field that may be nil, which comes first.
  ///
  /// - Parameter updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  public convenience init<Key: Comparand & Comparable, Entity: Document>(
    _ repository: any Repository<Entity, Entity>, sections query: Query<Entity>,
    by path: any KeyPath<Entity, Key?> & Sendable, refreshedBy updater: (any Updater)? = nil
  ) where Request == Query<Entity>, Value == Rows<RowSection<Key?, Entity>> {
    self.init(query, initially: [], refreshedBy: updater) {
      repository.stream(sections: $0, by: path)
    }
  }

  /// What a query selects, in sections by an enum, in its own order.
  ///
  /// - Parameter updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  public convenience init<
    Key: RawRepresentable & Comparable & CaseIterable & Sendable, Entity: Document
  >(
    _ repository: any Repository<Entity, Entity>, sections query: Query<Entity>,
    by path: any KeyPath<Entity, Key> & Sendable, refreshedBy updater: (any Updater)? = nil
  )
  where
    Key.RawValue: Comparand, Request == Query<Entity>, Value == Rows<RowSection<Key, Entity>>
  {
    self.init(query, initially: [], refreshedBy: updater) {
      repository.stream(sections: $0, by: path)
    }
  }

  /// What a query selects, in sections by an enum that may be nil, which comes first.
  ///
  /// - Parameter updater: Asked to sync when the model starts, and by ``refresh(_:)``; nil for nobody.
  public convenience init<
    Key: RawRepresentable & Comparable & CaseIterable & Sendable, Entity: Document
  >(
    _ repository: any Repository<Entity, Entity>, sections query: Query<Entity>,
    by path: any KeyPath<Entity, Key?> & Sendable, refreshedBy updater: (any Updater)? = nil
  )
  where
    Key.RawValue: Comparand, Request == Query<Entity>, Value == Rows<RowSection<Key?, Entity>>
  {
    self.init(query, initially: [], refreshedBy: updater) {
      repository.stream(sections: $0, by: path)
    }
  }
}
