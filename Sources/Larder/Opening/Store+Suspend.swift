internal import LarderLMDB
internal import Synchronization

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
  /// are suspended together. A compaction or a backup that runs ends with ``StoreError/suspended(path:)``,
  /// and so does a ``resume()`` that still waits for another process. A store that is suspended can be
  /// closed. Suspending it again does nothing. A store that was opened with ``init(published:options:)`` has
  /// no locks, and stays as it is.
  ///
  /// - Throws: ``StoreError/storage(_:)`` when reads or writes still run, and where the store cannot be
  ///   read; ``StoreError/closed``, ``StoreError/nestedWrite``. The store is as open as before then.
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
  ///   where another store is in its place, or a backup was restored over it. It stays suspended then, and
  ///   may be resumed later: the file of a locked phone, for one, can be read once the phone is unlocked.
  public func resume() throws {
    try checkOpen()
    try engine.storing { try engine.resume() }
  }
}

extension Engine {
  fileprivate func suspend(timeoutSeconds: Double) throws {
    if writer.isInLine { throw StoreError.nestedWrite }
    // One who resumes, and waits for another process meanwhile, makes way.
    suspensionsWanted.add(1, ordering: .relaxed)
    defer { suspensionsWanted.subtract(1, ordering: .relaxed) }
    let deadline = WriteWait.now + timeoutSeconds
    while true {
      let outcome = suspended.withLockIfFree { suspended in
        Result { try suspend(until: deadline, &suspended) }
      }
      if let outcome {
        guard try outcome.get() else { return }
        break
      }
      guard WriteWait.now < deadline else {
        throw LMDBError(
          .inUse, operation: "suspend", path: environment.folder,
          detail: "another thread suspends or resumes the store")
      }
      SystemCall.sleep(microseconds: 1000)
    }
    indexRuns.withLock { $0.forget() }
    log.tell(.info, "the store is suspended", [:])
  }

  /// - Returns: Whether it is suspended now, and was not before.
  private func suspend(until deadline: Double, _ suspended: inout SuspendedStore) throws -> Bool {
    guard !environment.isSuspended else { return false }
    // Reads were refused meanwhile, and nobody will resume what is not suspended.
    defer { if !environment.isSuspended { watchHub.resume(self) } }
    let folder = environment.folder
    var failure: (any Error)?
    _ = try environment.suspend(timeoutSeconds: max(0, deadline - WriteWait.now)) { transaction in
      do {
        suspended = try SuspendedStore(transaction, folder)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return environment.isSuspended
  }

  fileprivate func resume() throws {
    let isNews = try suspended.withLock { suspended -> Bool in
      guard environment.isSuspended else { return false }
      try resume(suspended)
      return true
    }
    guard isNews else { return }
    watchHub.resume(self)
    scheduleIndexWork()
    log.tell(.info, "the store was resumed", [:])
  }

  private func resume(_ suspended: SuspendedStore) throws {
    let folder = environment.folder
    var wait = openWait
    wait.isWanted = { [self] in suspensionsWanted.load(ordering: .relaxed) == 0 }
    // Where not even its databases are there.
    var refusal: any Error = StoreError.notAStore(
      path: folder, reason: SuspendedStore.replacedByBackup)
    let isSame = try environment.resume(wait: wait) { transaction in
      do {
        let found = try SuspendedStore(transaction, folder)
        guard let reason = suspended.reason(against: found, boot: boot.withLock { $0 })
        else { return true }
        refusal = StoreError.notAStore(path: folder, reason: reason)
      } catch {
        refusal = error
      }
      return false
    }
    guard isSame else { throw refusal }
    // It may be another one, which the first write looks at.
    hasTimeline.store(false, ordering: .releasing)
    do {
      try refreshCatalogue()
    } catch {
      // Where it cannot be suspended again, all is as the error says, and watchers go on.
      try? environment.suspend(timeoutSeconds: 1)
      if !environment.isSuspended { watchHub.resume(self) }
      throw error
    }
  }
}
