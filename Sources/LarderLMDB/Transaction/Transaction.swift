/// What a transaction lends to this layer; nothing in it is for the layers above.
public struct TransactionHandle {
  @usableFromInline let state: UnsafeMutablePointer<State>

  /// Lives at one address from begin to end, so that cursors can be counted in it.
  @usableFromInline
  struct State {
    @usableFromInline let pointer: OpaquePointer
    @usableFromInline var cursorCount = 0
    /// Bytes of a page where all of them lie in the map, at multiples of that; otherwise 0.
    let runPageByteCount: Int
    /// How often a reader was taken out of the pool, and how often it had been when idle ones were
    /// last looked for.
    var useCount: UInt32 = 0
    var seenUseCount = UInt32.max
    /// Held by the handle.
    var attachment: Unmanaged<AnyObject>?
    /// Of a reader: where further ones of its moment are to be had. It outlives the transaction.
    let environment: Unmanaged<Environment>?
  }

  init(
    _ pointer: OpaquePointer, runPageByteCount: Int = 0, of environment: Environment? = nil
  ) {
    state = .allocate(capacity: 1)
    state.initialize(
      to: State(
        pointer: pointer, runPageByteCount: runPageByteCount,
        environment: environment.map { .passUnretained($0) }))
  }

  init(state: UnsafeMutablePointer<State>) { self.state = state }

  @usableFromInline var pointer: OpaquePointer { state.pointee.pointer }

  /// Stops the program where the transaction is not the one that was lent: two scopes that a caller
  /// has exchanged would each be ended by the write of the other.
  package func expect(_ lent: TransactionHandle) {
    precondition(
      state == lent.state,
      "The scopes of two writes were exchanged: use each in the body that it was lent to.")
  }

  func expectNoCursors() {
    precondition(
      state.pointee.cursorCount == 0,
      "A cursor outlives its transaction: let go of every cursor before the transaction ends.")
  }

  /// Frees the memory of the handle, not the transaction.
  func deallocate() {
    state.pointee.attachment?.release()
    state.deallocate()
  }
}

/// One consistent moment of a store, and the records in it.
///
/// A transaction stays on the thread that began it, and ends when it is let go of.
public protocol Transaction: ~Copyable {
  /// The id of the transaction; ids of write transactions count up by one.
  var id: Int { get }

  /// For this layer only.
  var handle: TransactionHandle { get }
}

extension Transaction where Self: ~Copyable {
  @inlinable public var id: Int { Calls.id(handle.pointer) }

  /// Lends the bytes of a value to `body`; nil when there is no record under `key`.
  ///
  /// The bytes live until the transaction ends or writes again, so they must not leave `body`.
  ///
  /// - Throws: ``LMDBError``, or whatever `body` throws. The transaction stays usable unless the
  ///   code is ``LMDBError/Code/badTransaction`` or worse.
  @inlinable
  public borrowing func withValue<Result>(
    for key: UnsafeRawBufferPointer, in database: Database,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    guard let value = try Calls.get(handle.pointer, database.number, key) else { return nil }
    return try body(value)
  }

  /// A cursor that stands before the first record.
  ///
  /// Let go of it before the transaction ends: a noncopyable variable lives to the end of its
  /// scope, so give it a `do` of its own or use ``withCursor(in:_:)``. A cursor that outlives
  /// its transaction stops the program.
  ///
  /// - Throws: ``LMDBError`` with code ``LMDBError/Code/missing`` when the database was opened
  ///   after the transaction began. Nothing is left behind.
  public borrowing func cursor(in database: Database) throws(LMDBError) -> Cursor {
    try Cursor(handle, database)
  }

  /// Runs `body` with a cursor that is let go of when it returns.
  ///
  /// - Throws: ``LMDBError`` as ``cursor(in:)`` does, or whatever `body` throws.
  @inlinable
  public borrowing func withCursor<Result>(
    in database: Database, _ body: (inout Cursor) throws -> Result
  ) throws -> Result {
    var cursor = try cursor(in: database)
    return try body(&cursor)
  }

  /// The size of one database as this transaction sees it; costs one look-up.
  ///
  /// - Throws: ``LMDBError`` when the database cannot be read. Nothing is left behind.
  public borrowing func statistics(
    of database: Database
  ) throws(LMDBError) -> DatabaseStatistics {
    try Calls.statistics(handle.pointer, database)
  }
}
