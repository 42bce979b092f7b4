internal import LarderLMDB

/// One consistent moment of a store. It sees every commit before it and none after.
///
/// Lent by ``Store/read(_:)``; while it lives LMDB keeps the pages of its moment, so that it
/// should not live long.
public struct Snapshot: ~Copyable {
  let transaction: ReadTransaction
  let engine: Engine
  let catalogue: Catalogue
  let state: StoreState
  /// Says where it was opened; nil where nobody wants to hear of it.
  private let held: HeldSnapshot?

  /// The number of the last change that this snapshot sees; 0 in a new store.
  public var sequence: UInt64 { state.sequence }

  /// A snapshot whose state record is not later than its transaction, and whose collections are
  /// known. The record may be earlier: a commit that only makes a database does not write it.
  @usableFromInline init(
    _ engine: Engine, file: StaticString = #fileID, line: UInt = #line
  ) throws {
    // Known before the snapshot, which cannot use a handle that is younger: another thread may know
    // a newer catalogue at any moment.
    var catalogue = engine.catalogue
    var transaction = try engine.environment.beginRead()
    for attempt in 1...Self.maximumAttempts {
      guard let state = try transaction.state(path: engine.environment.folder) else {
        throw StoreError.damagedCatalogue("the state record is missing")
      }
      // A compacted copy starts again at transaction 1, and one that is only read cannot be given
      // a fresh record; the race that is looked for here never lasts so many renewals.
      let isCopy = attempt > Self.maximumAttempts / 2 && engine.environment.options.isReadOnly
      #if LARDER_MUTANTS
        let isTrusted = isCopy || Mutant.snapshotGuard.isOn
      #else
        let isTrusted = isCopy
      #endif
      guard state.transaction <= UInt64(transaction.id) || isTrusted else {
        catalogue = engine.catalogue
        try transaction.renew()
        continue
      }
      if state.catalogueVersion == catalogue.version {
        #if LARDER_MUTANTS
          if Mutant.snapshotHeld.isOn { try transaction.hold() }
        #endif
        self.transaction = transaction
        self.engine = engine
        self.catalogue = catalogue
        self.state = state
        held = engine.log.isActive ? engine.heldSnapshots.open(file, line) : nil
        return
      }
      // Another process has declared something, or this one just did. Its databases are opened
      // first: a handle must not be used in a snapshot that began before it.
      try engine.refreshCatalogue()
      catalogue = engine.catalogue
      try transaction.renew()
    }
    throw StoreError.unstableSnapshot(attempts: Self.maximumAttempts)
  }

  private static let maximumAttempts = 100
}

extension Store {
  /// Lends one consistent moment to `body`. Never waits for a write.
  ///
  /// While it lasts the file grows with every write: one that lasts longer than 30 seconds meanwhile
  /// is told to ``StoreOptions/log``, with `file` and `line`.
  ///
  /// - Throws: ``StoreError``, or whatever `body` throws.
  @inlinable public func read<Result>(
    file: StaticString = #fileID, line: UInt = #line,
    _ body: (borrowing Snapshot) throws -> Result
  ) throws -> Result {
    try checkOpen()
    return try engine.storing { try body(Snapshot(engine, file: file, line: line)) }
  }
}
