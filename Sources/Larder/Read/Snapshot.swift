internal import LarderLMDB

/// One consistent moment of a store. It sees every commit before it and none after.
///
/// Lent by ``Store/read(file:line:_:)``; while it lives LMDB keeps the pages of its moment, so that it
/// should not live long.
public struct Snapshot: ~Copyable {
  let transaction: ReadTransaction
  // Whoever makes a snapshot holds the engine until it has ended, and the reader in the pool holds the
  // catalogue: threads that read side by side would wait for each other to count references to them.
  unowned(unsafe) let engine: Engine
  private let known: Unmanaged<Catalogue>
  let state: StoreState
  /// Says where it was opened; nil where nobody wants to hear of it.
  private let held: HeldSnapshot?
  /// Where it is noted what is read; nil where nobody wants to know. Whoever wants to know holds it.
  let notes: Unmanaged<ReadNotes>?

  var catalogue: Catalogue { known.takeUnretainedValue() }

  /// The number of the last change that this snapshot sees; 0 in a new store.
  public var sequence: UInt64 { state.sequence }

  fileprivate init(
    _ transaction: consuming ReadTransaction, _ engine: Engine, _ known: Unmanaged<Catalogue>,
    _ state: StoreState, _ held: HeldSnapshot?, _ notes: Unmanaged<ReadNotes>?
  ) {
    self.transaction = transaction
    self.engine = engine
    self.known = known
    self.state = state
    self.held = held
    self.notes = notes
  }

  /// The binding of a document type; nil where its collection does not exist. It lives as long as the
  /// snapshot.
  ///
  /// - Throws: As ``Catalogue/binding(of:)``.
  borrowing func binding<Entity: Document>(
    of type: Entity.Type
  ) throws -> Unmanaged<CollectionBinding>? {
    try known._withUnsafeGuaranteedRef { try $0.lastingBinding(of: type) }
  }
}

extension Engine {
  /// A snapshot whose state record is not later than its transaction, and whose collections are
  /// known. The record may be earlier: a commit that only makes a database does not write it.
  ///
  /// Whoever asks holds the engine until the snapshot has ended.
  @usableFromInline func snapshot(
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> Snapshot {
    try snapshot(file: file, line: line, noting: nil)
  }

  /// The same, which notes what is read of it.
  func snapshot(
    file: StaticString, line: UInt, noting notes: Unmanaged<ReadNotes>?
  ) throws -> Snapshot {
    var transaction = try environment.beginLentRead()
    for attempt in 1...Self.maximumAttempts {
      guard let state = try transaction.state(path: environment.folder) else {
        throw StoreError.damagedCatalogue("the state record is missing")
      }
      // A compacted copy starts again at transaction 1, and one that is only read cannot be given
      // a fresh record; the race that is looked for here never lasts so many renewals.
      let isCopy = attempt > Self.maximumAttempts / 2 && environment.options.isReadOnly
      #if LARDER_MUTANTS
        let isTrusted = isCopy || Mutant.snapshotGuard.isOn
      #else
        let isTrusted = isCopy
      #endif
      guard state.transaction <= UInt64(transaction.id) || isTrusted else {
        transaction = try newer(transaction)
        continue
      }
      if let known = transaction.catalogue(at: state.catalogueVersion) {
        #if LARDER_MUTANTS
          if Mutant.snapshotHeld.isOn { try transaction.hold() }
        #endif
        return Snapshot(
          transaction, self, known, state, log.isActive ? heldSnapshots.open(file, line) : nil,
          notes)
      }
      // The reader is new, or another process has declared something, or this one just did.
      // Databases are opened first: a handle must not be used in a snapshot that began before it.
      if catalogue.version != state.catalogueVersion {
        try refreshCatalogue()
        // Of indexes that another process has left unfinished, which may have ended.
        scheduleIndexWork()
      }
      transaction.attach(catalogue)
      transaction = try newer(transaction)
    }
    throw StoreError.unstableSnapshot(attempts: Self.maximumAttempts)
  }

  private func newer(
    _ transaction: consuming ReadTransaction
  ) throws(LMDBError) -> ReadTransaction {
    do throws(LMDBError) {
      try transaction.renew()
      return transaction
    } catch {
      guard error.code == .mapResized || error.code == .panic else { throw error }
    }
    // Its reader ends first: what a new one may have to wait for is that all others have.
    _ = consume transaction
    return try environment.beginLentRead()
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
    defer { withExtendedLifetime(self) {} }
    return try engine.storing { try body(engine.snapshot(file: file, line: line)) }
  }
}

extension ReadTransaction {
  /// The catalogue that this reader was given, if it is of this version. It was given before this
  /// transaction began, so that none of its handles is younger.
  fileprivate borrowing func catalogue(at version: UInt64) -> Unmanaged<Catalogue>? {
    // Nothing else is attached to readers.
    guard let attachment else { return nil }
    let known = Unmanaged<Catalogue>.fromOpaque(attachment.toOpaque())
    return known._withUnsafeGuaranteedRef { $0.version } == version ? known : nil
  }
}
