internal import LarderLMDB

/// Reads the log from a place that somebody else keeps.
struct HistoryReader: WatchWork {
  private let store: Store
  private let filter: ChangeFilter
  private let batchCount: Int
  private let token: ChangeToken?
  private var position: UInt64?

  /// - Parameter token: Nil for all that comes from now on.
  init(_ store: Store, _ token: ChangeToken?, _ filter: ChangeFilter, batchCount: Int) {
    self.store = store
    // A store that cannot be read now says so at the first look, or begins with that one.
    if token == nil { position = try? store.read { $0.sequence } }
    self.token = token
    self.filter = filter
    self.batchCount = batchCount
  }

  mutating func next(skippingTo skipped: UInt64) throws -> ChangeBatch? {
    try store.checkOpen()
    return try store.engine.storing {
      try store.engine.withChangeLog { snapshot, log in
        var start = position
        if start == nil {
          start = snapshot.sequence
          if let token { start = try snapshot.place(of: token) }
        }
        let batch = try snapshot.changes(after: start, filter, limit: batchCount, log)
        position = batch.token.sequence
        return batch.isReset || !batch.changes.isEmpty ? batch : nil
      }
    }
  }
}
