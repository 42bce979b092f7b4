internal import LarderLMDB
public import LarderRemote

/// What the server's own backend and its operator do, past all users.
extension InMemoryRemote {
  /// The documents that a scope has now.
  public func documents(in scope: String) -> [RemoteKey: RemoteVersion] {
    state.withLock { state in
      state.tables.documents(in: scope).mapValues {
        RemoteVersion(revision: $0.revision, document: $0.document)
      }
    }
  }

  /// What stands at a key, in whichever scope: a document or a tombstone; nil where there was never any.
  public func version(of key: RemoteKey) -> RemoteVersion? {
    state.withLock { state in
      state.tables.rows[key].map { RemoteVersion(revision: $0.revision, document: $0.document) }
    }
  }

  /// Stores a document whatever stood there; its revision.
  @discardableResult
  public func put(_ key: RemoteKey, _ document: RemoteDocument, in scope: String) -> String {
    change { $0.store(key, document, in: scope) }
  }

  /// Deletes a document; false where there is none.
  @discardableResult
  public func remove(_ key: RemoteKey) -> Bool {
    change { tables in
      guard let row = tables.rows[key], row.document != nil else { return false }
      tables.store(key, nil, in: row.scope)
      return true
    }
  }

  /// Moves a document into another scope; false where there is none.
  @discardableResult
  public func move(_ key: RemoteKey, to scope: String) -> Bool {
    change { tables in
      guard let row = tables.rows[key], let document = row.document, row.scope != scope else {
        return false
      }
      tables.store(key, document, in: scope)
      return true
    }
  }

  /// Forgets tombstones, moves and ids of mutations: cursors that have not seen them expire.
  public func purge() { change { $0.purge() } }

  /// Has every cursor expire, as after a backup was restored.
  public func forgetCursors() { change { $0.generation += 1 } }

  /// What the server holds now, to be restored later.
  public func backup() -> Backup { Backup(tables: state.withLock { $0.tables }) }

  /// Sets the server back to a backup, as an operator does after a disk was lost. Cursors expire; revisions
  /// that were given since are not given again.
  public func restore(_ backup: Backup) {
    change { tables in
      let (revisionCount, generation) = (tables.revisionCount, tables.generation)
      let scopes = Set(tables.feeds.keys).union(backup.tables.feeds.keys)
      tables = backup.tables
      tables.revisionCount = max(revisionCount, backup.tables.revisionCount)
      tables.generation = generation + 1
      for scope in scopes { tables.noteChange(in: scope) }
    }
  }

  /// Ends all streams of hints, as a server does that starts again. With an error it breaks them off.
  public func endHints(throwing error: (any Error)? = nil) {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.continuation.finish(throwing: error) }
  }

  /// What a server held at a moment.
  public struct Backup: Sendable {
    let tables: InMemoryTables
  }

  private func change<Result>(_ body: (inout InMemoryTables) -> Result) -> Result {
    // Only what `body` throws is thrown.
    guard let result = try? told({ body(&$0.tables) }) else {
      preconditionFailure("a change of the tables throws nothing")
    }
    return result
  }
}
