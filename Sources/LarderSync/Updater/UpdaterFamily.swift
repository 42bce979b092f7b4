internal import LarderLMDB

/// Updaters of one kind, each for a thing of its own: this city, this page, that book.
///
/// ```swift
/// let books = UpdaterFamily { (isbn: String) in
///   FetchLimiter(minimumInterval: .seconds(3600), trigger: trigger)
/// } updater: { isbn, limiter in
///   RemoteUpdater(limiter: limiter) {
///     .fromRemote(try await server.book(isbn))
///   } save: { book, origin in
///     try await shelf.save([book], as: origin)
///   }
/// }
/// let events = shelf.stream(Book.where { $0.id == isbn }, refreshedBy: books[isbn])
/// ```
/// Every key has a limiter of its own, which all updaters of the key share: two screens of one book make
/// one request, and a book that cannot be had keeps no other one waiting.
///
/// A limiter is kept while an updater of its key is in use, and while it has something to remember: a
/// fetch under way, an interval or a pause that is not over. After that it is released. Memory so grows
/// with the keys of the last interval, not with all that there ever were. Limiters with a name also leave
/// a note in the store for each key, which stays; give names to few keys.
///
/// Safe to use from any thread.
public final class UpdaterFamily<Key: Hashable & Sendable>: Sendable {
  private struct State {
    var limiters: [Key: FetchLimiter] = [:]
    /// How many there are when those that are of no use are looked for: so seldom that each access pays
    /// for a constant part of the search.
    var limit = 16
  }

  private let state = Locked(State())
  private let makeLimiter: @Sendable (Key) -> FetchLimiter
  private let makeUpdater: @Sendable (Key, FetchLimiter) -> RemoteUpdater

  /// - Parameters:
  ///   - limiter: Makes the limiter of a key. Called again for a key whose limiter was released.
  ///   - updater: Makes an updater of a key with its limiter; called for each access.
  public init(
    limiter: @escaping @Sendable (Key) -> FetchLimiter,
    updater: @escaping @Sendable (Key, FetchLimiter) -> RemoteUpdater
  ) {
    makeLimiter = limiter
    makeUpdater = updater
  }

  /// The updater of a key.
  public subscript(key: Key) -> RemoteUpdater { makeUpdater(key, limiter(of: key)) }

  /// How many limiters are kept.
  public var count: Int { state.withLock { $0.limiters.count } }

  /// Stops the fetches that are under way, of all keys, as ``FetchLimiter/cancel()`` does.
  public func cancel() { for limiter in limiters { limiter.cancel() } }

  /// Forgets the last success of every key, and what has failed since, as
  /// ``FetchLimiter/forgetLastSuccess()`` does: when the user signs out, before the data are erased. A limiter with
  /// a name that was released already has left its note in the store, which stays.
  ///
  /// - Throws: `StoreError`, of the first that has failed; the others have forgotten all the same.
  public func forgetLastSuccesses() async throws {
    var failure: (any Error)?
    for limiter in limiters {
      do {
        try await limiter.forgetLastSuccess()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private var limiters: [FetchLimiter] { state.withLock { Array($0.limiters.values) } }

  private func limiter(of key: Key) -> FetchLimiter {
    if let limiter = state.withLock({ $0.limiters[key] }) { return limiter }
    // Made outside of the lock: the closure may ask this family for another key.
    let new = makeLimiter(key)
    let (limiter, evicted) = state.withLock { state in
      let evicted = state.limiters.count >= state.limit ? Self.evict(&state) : []
      // Somebody may have been faster.
      let limiter = state.limiters[key] ?? new
      state.limiters[key] = limiter
      return (limiter, evicted)
    }
    withExtendedLifetime(evicted) {}
    return limiter
  }

  private static func evict(_ state: inout State) -> [FetchLimiter] {
    var evicted: [FetchLimiter] = []
    for key in Array(state.limiters.keys) {
      guard var limiter = state.limiters.removeValue(forKey: key) else { continue }
      if isKnownUniquelyReferenced(&limiter), limiter.isIdle {
        evicted.append(limiter)
      } else {
        state.limiters[key] = limiter
      }
    }
    state.limit = max(16, state.limiters.count * 2)
    return evicted
  }
}
