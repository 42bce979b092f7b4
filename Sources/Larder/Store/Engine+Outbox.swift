internal import LarderLMDB

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
