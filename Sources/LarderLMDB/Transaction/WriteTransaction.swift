/// The one write transaction of a store; letting go of it without ``commit()`` keeps nothing.
///
/// It must end on the thread that began it.
public struct WriteTransaction: ~Copyable, Transaction {
  public let handle: TransactionHandle
  let environment: Environment
  /// Nil for the environment's own transaction, else the one that this is nested in.
  private let parent: TransactionHandle?
  private var hasEnded = false

  init(_ handle: TransactionHandle, _ environment: Environment, parent: TransactionHandle? = nil) {
    self.handle = handle
    self.environment = environment
    self.parent = parent
  }

  deinit {
    guard !hasEnded else { return }
    if parent == nil {
      environment.abort(writing: handle)
    } else {
      environment.abort(nested: handle)
    }
  }

  /// Keeps everything written, and returns once it is as safe as the environment's durability
  /// says.
  ///
  /// - Throws: ``LMDBError`` when the disk or the transaction failed. Nothing is kept, and the
  ///   next transaction starts from the last commit that succeeded.
  public consuming func commit() throws(LMDBError) {
    hasEnded = true
    if parent == nil {
      let number = Calls.id(handle.pointer)
      try environment.commit(writing: handle)
      environment.bell?.ring(number)
    } else {
      try environment.commit(nested: handle)
    }
  }

  /// Stores `value` under `key`, replacing what was there.
  ///
  /// Neither buffer may point into the store. `append` is faster and packs tighter, and takes
  /// only keys that come after all others.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/badValueSize`` or ``LMDBError/Code/keyExists``
  ///   leave the transaction as it was; after ``LMDBError/Code/mapFull`` and the like it can
  ///   only be let go of.
  @inlinable
  public mutating func put(
    _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer, in database: Database,
    append: Bool = false
  ) throws(LMDBError) {
    try Calls.put(handle.pointer, database.number, key, value, append: append)
  }

  /// Deletes the record under `key`; false when there is none.
  ///
  /// - Throws: ``LMDBError``; the transaction can then only be let go of.
  @inlinable
  public mutating func delete(
    _ key: UnsafeRawBufferPointer, in database: Database
  ) throws(LMDBError) -> Bool {
    try Calls.delete(handle.pointer, database.number, key)
  }

  /// Deletes every record of a database, at a cost that grows with its pages; the database
  /// itself stays.
  ///
  /// - Throws: ``LMDBError``; the transaction can then only be let go of.
  public mutating func empty(_ database: Database) throws(LMDBError) {
    try Calls.empty(handle.pointer, database)
  }

  /// Runs `body` in a transaction inside this one: what it wrote is undone if it throws, and
  /// becomes part of this transaction if it returns.
  ///
  /// This transaction cannot be used meanwhile, and its cursors must not be either.
  ///
  /// - Throws: Whatever `body` throws, or ``LMDBError`` when the inner transaction cannot begin
  ///   or commit. In every case this transaction is as it was before and may go on.
  public mutating func nested<Result>(
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var child = try beginNested()
    let result = try body(&child)
    try child.commit()
    return result
  }

  /// Begins a transaction inside this one, to be committed into it or let go of.
  ///
  /// Until then this transaction cannot be used, and it has no live cursors.
  ///
  /// - Throws: ``LMDBError``; this transaction is as it was then.
  public borrowing func beginNested() throws(LMDBError) -> WriteTransaction {
    WriteTransaction(try environment.beginNested(in: handle), environment, parent: handle)
  }
}
