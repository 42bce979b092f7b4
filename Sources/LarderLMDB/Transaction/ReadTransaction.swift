/// A snapshot of the store; letting go of it gives it back to the environment's pool.
///
/// While it lives, the pages it can see are not used again and the file may grow: keep it short.
public struct ReadTransaction: ~Copyable, Transaction {
  public let handle: TransactionHandle
  private let environment: Unmanaged<Environment>
  /// Nil where the caller holds the environment. Threads that count references to one object wait
  /// for each other, at each read.
  private let keeper: Environment?

  init(_ handle: TransactionHandle, _ environment: Environment, isLent: Bool) {
    self.handle = handle
    self.environment = .passUnretained(environment)
    keeper = isLent ? nil : environment
  }

  deinit {
    environment._withUnsafeGuaranteedRef { $0.end(reading: handle) }
  }

  /// Moves to the newest snapshot; no cursor of this transaction may be live.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/closed`` when the store is closing, which leaves
  ///   the old snapshot; otherwise, as after ``LMDBError/Code/mapResized``, the transaction sees
  ///   none: let go of it.
  public mutating func renew() throws(LMDBError) {
    handle.expectNoCursors()
    // The function that Swift has for this throws errors without a type.
    let environment = environment.takeUnretainedValue()
    try environment.renew(handle)
  }
}

extension ReadTransaction {
  /// What the layer above keeps beside the reader, whose next transaction finds it again. It lives at
  /// least as long as this transaction, unless another one is attached, and as the reader in the
  /// pool, of which there are ``ReaderPool/capacity``.
  package var attachment: Unmanaged<AnyObject>? { handle.state.pointee.attachment }

  package mutating func attach(_ object: AnyObject) {
    let earlier = handle.state.pointee.attachment
    handle.state.pointee.attachment = .passRetained(object)
    earlier?.release()
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
