/// A snapshot of the store; letting go of it gives it back to the environment's pool.
///
/// While it lives, the pages it can see are not used again and the file may grow: keep it short.
public struct ReadTransaction: ~Copyable, Transaction {
  public let handle: TransactionHandle
  let environment: Environment

  init(_ handle: TransactionHandle, _ environment: Environment) {
    self.handle = handle
    self.environment = environment
  }

  deinit {
    environment.end(reading: handle)
  }

  /// Moves to the newest snapshot; no cursor of this transaction may be live.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/closed`` when the store is closing, which leaves
  ///   the old snapshot; otherwise, as after ``LMDBError/Code/mapResized``, the transaction sees
  ///   none: let go of it.
  public mutating func renew() throws(LMDBError) {
    handle.expectNoCursors()
    try environment.renew(handle)
  }
}

#if LARDER_MUTANTS
  extension ReadTransaction {
    /// What ``Mutant/snapshotHeld`` does wrong: whoever has read something in this snapshot goes on
    /// in a later one.
    package mutating func hold() throws(LMDBError) {
      SystemCall.sleep(microseconds: 300)
      try renew()
    }
  }
#endif
