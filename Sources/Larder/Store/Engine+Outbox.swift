internal import LarderLMDB

extension Store {
  /// Makes the databases of what is synced, where there are none. To be called before a write that uses
  /// them, and outside of writes.
  package func prepareOutbox() throws {
    try checkOpen()
    guard engine.outboxDatabases == nil else { return }
    try engine.storing {
      try engine.writer.run {
        _ = try engine.madeDatabase(named: Layout.outboxName)
        _ = try engine.madeDatabase(named: Layout.syncName)
      }
    }
  }
}

extension Engine {
  /// The databases of what is synced; nil before a collection was.
  var outboxDatabases: OutboxDatabases? {
    guard let outbox = environment.knownDatabase(named: Layout.outboxName),
      let sync = environment.knownDatabase(named: Layout.syncName)
    else { return nil }
    return OutboxDatabases(outbox: outbox, sync: sync)
  }

  /// Opens them where they exist.
  func openOutbox() throws {
    _ = try environment.database(named: Layout.outboxName, create: false)
    _ = try environment.database(named: Layout.syncName, create: false)
  }
}
