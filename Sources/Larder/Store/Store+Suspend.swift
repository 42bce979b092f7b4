internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Store {
  /// Whether ``suspend(timeout:)`` was called last, and not ``resume()``.
  public var isSuspended: Bool { engine.environment.isSuspended }

  /// Gives back every lock that this process holds on the store's files, and keeps the store itself: for
  /// an app that the system puts to sleep, and would end if it held a lock in a folder that it shares.
  ///
  /// Lets nothing new begin and waits up to `timeout` for reads, writes and publications that run. Until
  /// ``resume()``, reads and writes throw ``StoreError/suspended(path:)``, writes that wait for their turn
  /// too; watched queries stay, and say nothing meanwhile. Other processes may write to the store, compact
  /// it, and take the names of its consumers: see ``resume()``. All stores of this process on the folder
  /// are suspended together. A store that is suspended can be closed. Suspending it again does nothing. A
  /// store that was opened with ``init(published:options:)`` has no locks, and stays as it is.
  ///
  /// - Throws: ``StoreError/storage(_:)`` when reads or writes still run; ``StoreError/closed``,
  ///   ``StoreError/nestedWrite``. The store is as open as before then.
  public func suspend(timeout: Duration = .seconds(5)) throws {
    try checkOpen()
    try engine.storing { try engine.suspend(timeoutSeconds: timeout.seconds) }
  }

  /// Opens a suspended store again, with what others have written meanwhile, of which watched queries
  /// tell. Does nothing where it is not suspended. Waits while another process opens the store, as
  /// ``StoreOptions/openTimeout`` says.
  ///
  /// Consumers of changes hold their names again, and go on; one whose name another process has taken
  /// meanwhile ends with ``StoreError/consumerLost(name:)``.
  ///
  /// - Throws: ``StoreError``: whatever opening a store throws, and ``StoreError/notAStore(path:reason:)``
  ///   where another store is in its place. It stays suspended then, and may be resumed later: the file
  ///   of a locked phone, for one, can be read once the phone is unlocked.
  public func resume() throws {
    try checkOpen()
    try engine.storing { try engine.resume() }
  }
}

extension Engine {
  fileprivate func suspend(timeoutSeconds: Double) throws {
    guard !environment.isSuspended else { return }
    let id = try storeID()
    try environment.suspend(timeoutSeconds: timeoutSeconds)
    guard environment.isSuspended else { return }
    suspendedID.withLock { $0 = id }
    indexRuns.withLock { $0.forget() }
    log.tell(.info, "the store is suspended", [:])
  }

  fileprivate func resume() throws {
    guard environment.isSuspended else { return }
    try environment.resume(wait: openWait)
    do {
      guard try suspendedID.withLock({ $0 }) == storeID() else {
        throw StoreError.notAStore(
          path: environment.folder,
          reason: "another store has taken the place of the one that was suspended; close this one")
      }
      try refreshCatalogue()
    } catch {
      // Nobody may take one store for the other; where it cannot be suspended again, all is as the
      // error says.
      try? environment.suspend(timeoutSeconds: 1)
      throw error
    }
    watchHub.resume(self)
    scheduleIndexWork()
    log.tell(.info, "the store was resumed", [:])
  }

  private func storeID() throws -> UUID? {
    try environment.beginRead().state(path: environment.folder)?.storeID
  }
}
