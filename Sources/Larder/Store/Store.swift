internal import LarderLMDB
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One LMDB environment: all collections of an app, or of one part of it.
///
/// ```swift
/// let store = try Store(at: folder)
/// let contacts = store.repository(of: Contact.self)
/// try await contacts.save(page)
/// ```
/// Safe to use from any thread. Several stores on one folder share everything; several
/// processes may have it open. Reads never wait for writes.
public final class Store: Sendable {
  @usableFromInline let engine: Engine
  let isClosed = Atomic<Bool>(false)
  /// Held while one caller closes. Reads must not wait for it: closing waits for them.
  let closing = Locked(false)
  let temporaryFolder: URL?

  init(_ engine: Engine, temporaryFolder: URL?) {
    self.engine = engine
    self.temporaryFolder = temporaryFolder
  }

  /// The store's folder.
  public var folder: URL { URL(filePath: engine.environment.folder, directoryHint: .isDirectory) }

  deinit {
    // Nobody is left to be told, and nothing was promised: every save was durable before.
    try? close()
  }

  /// Asked before anything is waited for or locked: in a forked child nobody may be there who would go on, or
  /// who would unlock what another thread of the parent had locked.
  ///
  /// - Throws: ``StoreError/closed``: another `Store` may keep the engine running. ``StoreError/storage(_:)`` with
  ///   ``StorageFailure/Code/usedAfterFork``.
  @usableFromInline func checkOpen() throws(StoreError) {
    do throws(LMDBError) {
      try engine.environment.checkFork("use")
    } catch {
      throw StoreError(error)
    }
    if isClosed.load(ordering: .acquiring) { throw .closed }
  }
}
