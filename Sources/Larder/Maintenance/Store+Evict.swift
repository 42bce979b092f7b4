#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Documents that are evicted in one transaction.
  private static var evictionCount: Int { 500 }

  /// Deletes all documents that the rules of their type no longer keep, in small transactions; returns
  /// how many.
  ///
  /// Saving evicts a few each time; this is for a program that has time, as when it begins or goes to
  /// the background, and for types that are seldom saved. See ``WriteScope/evict(_:limit:asOf:)``.
  ///
  /// - Parameters:
  ///   - now: What ages are counted to.
  ///   - progress: Told how many have gone, after each transaction; what it throws ends it.
  /// - Throws: ``StoreError``, as there; what `progress` throws; `CancellationError` where the task was
  ///   cancelled. What was evicted before is gone.
  @discardableResult
  public func evict<Entity: Document>(
    _ type: Entity.Type, asOf now: Date = .now, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> Int {
    var evicted = 0
    while true {
      let count = try write { try $0.evict(type, limit: Self.evictionCount, asOf: now) }
      evicted += count
      guard count == Self.evictionCount else { return evicted }
      try StoreProgress(.evicting, completed: evicted, total: nil, documentCount: evicted).tell(
        progress)
    }
  }

  /// Deletes all documents that the rules of their type no longer keep, on the store's own thread; as the
  /// synchronous one. Cancelling the task ends it between two transactions.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`.
  @discardableResult
  public func evict<Entity: Document>(
    _ type: Entity.Type, asOf now: Date = .now
  ) async throws -> Int {
    var evicted = 0
    while true {
      let count = try await write { try $0.evict(type, limit: Self.evictionCount, asOf: now) }
      evicted += count
      guard count == Self.evictionCount else { return evicted }
      try Task.checkCancellation()
    }
  }
}
