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
