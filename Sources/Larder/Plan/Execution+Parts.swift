internal import LarderLMDB

// Queries that several threads answer together, each of which takes one part of the keys after another.

extension Execution {
  /// Has several threads make something of the documents that match, each of one part of the keys after another.
  ///
  /// - Parameter make: Makes something of one part; called for several at once.
  /// - Returns: What was made of the parts, in the order of the keys. Nil where one thread has to do: few documents are
  ///   to be read, an index finds them, or they are sorted. Nil, too, where the parts turn out not to join, as in a
  ///   damaged file: one thread, which goes from page to page, does not depend on the keys that cut them.
  /// - Throws: What `make` throws for the first part for which it does.
  func inParts<Part>(
    _ transaction: borrowing LentTransaction, _ make: @Sendable (ReadPart) throws -> Part
  ) throws -> [Part]? {
    guard case .keys = plan.order, let parts = try parts(transaction) else { return nil }
    return try inParts(transaction, parts, make)
  }

  private func inParts<Part>(
    _ transaction: borrowing LentTransaction, _ parts: KeyParts,
    _ make: @Sendable (ReadPart) throws -> Part
  ) throws -> [Part]? {
    // Parts have about as many pages each, and not quite as many documents.
    let expected = residual.matchesAll ? parts.documentCount / parts.ranges.count * 9 / 8 : 0
    // Only the scan is asked of it, which changes nothing.
    nonisolated(unsafe) let execution = self
    return try parts.make(transaction) { _, range, transaction in
      try make(ReadPart(execution, range, transaction.handle, expectedCount: expected))
    }
  }

  /// Has several threads read the documents that match. Parts have their turns in the order of the keys.
  ///
  /// - Parameter body: Called for several parts at once.
  /// - Returns: False, and nothing was done, where ``inParts(_:_:)`` returns nil.
  func inTurns(
    _ transaction: borrowing LentTransaction, _ body: @Sendable (TurnPart) throws -> Void
  ) throws -> Bool {
    guard case .keys = plan.order, let parts = try parts(transaction, areSmall: true),
      try parts.join(transaction)
    else { return false }
    let turns = PartTurns()
    nonisolated(unsafe) let execution = self
    let done: [Void]? = try parts.make(transaction, haveJoined: true) {
      number, range, transaction in
      let part = ReadPart(execution, range, transaction.handle, expectedCount: 0)
      try turns.take(number) { try body(TurnPart(part, number, turns)) }
    }
    return done != nil
  }

  /// How many documents match, in parts; nil as ``inParts(_:_:)`` says.
  func countsInParts(_ transaction: borrowing LentTransaction) throws -> [Int]? {
    try inParts(transaction) { part in
      var count = 0
      try part.forEach { _, _ in
        count += 1
        return true
      }
      return count
    }
  }

  /// So many documents at most are looked for in each part: all are held in memory, with the values that they are
  /// sorted by, until it is known which are the first.
  private static let mostFirst = 200

  /// The first documents in an order that no index has; nil as ``inParts(_:_:)`` says, and where many are wanted.
  func firstInParts(
    _ transaction: borrowing LentTransaction, wanted: Int
  ) throws -> SortedRows? {
    guard wanted <= Self.mostFirst, let parts = try parts(transaction) else { return nil }
    prepareToSort()
    let found = try inParts(transaction, parts) { try $0.first(wanted) }
    guard let found else { return nil }
    var first = SortedRows(limit: wanted)
    for row in found.joined() {
      try first.add(key: row.key, record: row.record) {
        try binding.verify(row.record, key: row.key)
      } _: { bytes in
        row.values.withUnsafeBytes { bytes.append($0) }
      }
    }
    return first
  }

  /// Nil where one thread has to do.
  private func parts(
    _ transaction: borrowing LentTransaction, areSmall: Bool = false
  ) throws -> KeyParts? {
    guard tally == nil, case .everything = plan.source else { return nil }
    return try KeyParts(of: binding.collection, transaction, areSmall: areSmall)
  }
}

/// One part of the documents that a query selects, for the thread that reads it.
@usableFromInline struct ReadPart {
  private let execution: Execution
  private let range: KeyRange
  private let transaction: TransactionHandle
  /// How many documents there may be, where each of the part matches; otherwise 0.
  @usableFromInline let expectedCount: Int

  init(
    _ execution: Execution, _ range: KeyRange, _ transaction: TransactionHandle, expectedCount: Int
  ) {
    self.expectedCount = expectedCount
    self.execution = execution
    self.range = range
    self.transaction = transaction
  }

  /// Lends the documents that match, in the order of their keys.
  ///
  /// - Throws: What `body` throws.
  func forEach(_ body: Execution.Body) throws {
    try withoutActuallyEscaping(body) { body in
      try execution.scan(range, LentTransaction(transaction), Execution.Taker(take: body))
    }
  }

  /// The first documents in an order that no index has, with the values that they are sorted by.
  func first(_ wanted: Int) throws -> [SortedRows.Found] {
    try execution.sortedRows(LentTransaction(transaction), wanted: wanted, part: range).found()
  }

  /// Lends the records that match, verified, in the order of their keys.
  @usableFromInline func forEachRecord(_ body: RecordBody) throws {
    let binding = execution.binding
    try forEach { key, record in
      try binding.reading(record, key: key, body)
      return true
    }
  }
}

/// One part of the documents that a query selects, for a thread that does something with it in its turn.
package struct TurnPart {
  private let part: ReadPart
  private let number: Int
  private let turns: PartTurns

  init(_ part: ReadPart, _ number: Int, _ turns: PartTurns) {
    self.part = part
    self.number = number
    self.turns = turns
  }

  /// Lends the records that match, verified, in the order of their keys.
  package func forEachRecord(_ body: (borrowing RecordReader) throws -> Void) throws {
    try part.forEachRecord(body)
  }

  /// Waits until everything is done that other threads do with the parts before.
  ///
  /// - Throws: An error without meaning where one of them has failed.
  package func waitForTurn() throws { try turns.wait(for: number) }
}
