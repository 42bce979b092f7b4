internal import LarderLMDB
package import Synchronization

// Large collections are read by several threads, each of which takes one part of the keys after another.

/// When several threads share the work of a read.
package enum ParallelRead {
  /// Collections with fewer documents are read by one thread. With 20,000, two threads take 0.7 of its time; what
  /// fewer gain was not measured.
  package static let leastDocumentCount = Atomic<Int>(16_384)
}

extension Execution {
  /// Parts of a collection: so many that no thread waits long for another whose part takes longer.
  private static let mostParts = 32

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
    guard let (ranges, documentCount) = try parts(transaction) else { return nil }
    let results = PartResults<Part>(count: ranges.count)
    // Parts have about as many pages each, and not quite as many documents.
    let expected = residual.matchesAll ? documentCount / ranges.count * 9 / 8 : 0
    // Only the scan is asked of it, which changes nothing.
    nonisolated(unsafe) let execution = self
    let isDone = transaction.inParallel(ranges.count) { number, transaction in
      results.set(number) {
        try make(ReadPart(execution, ranges[number], transaction.handle, expectedCount: expected))
      }
    }
    return isDone ? try results.joined() : nil
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

  /// The ranges of keys that are worth being read side by side, in their order, and how many documents
  /// there are in all; nil where one thread has to do.
  private func parts(
    _ transaction: borrowing LentTransaction
  ) throws -> (ranges: [KeyRange], documentCount: Int)? {
    guard tally == nil, case .everything = plan.source, case .keys = plan.order else { return nil }
    let documents = binding.collection.documents
    let count = try transaction.statistics(of: documents).entryCount
    guard count >= ParallelRead.leastDocumentCount.load(ordering: .relaxed),
      transaction.canWorkInParallel
    else { return nil }
    let cuts = try transaction.cuts(
      of: documents, named: Layout.documentsName(of: binding.collection.name),
      maximumCount: Self.mostParts - 1
    ).map { [UInt8]($0) }
    if cuts.isEmpty { return nil }
    let ranges = zip([[]] + cuts, cuts.map(Optional.init) + [nil]).map {
      KeyRange(lower: $0, upper: $1)
    }
    return (ranges, count)
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
  /// - Throws: ``PartsDoNotJoin``; what `body` throws.
  func forEach(_ body: Execution.Body) throws {
    try checkJoins()
    try withoutActuallyEscaping(body) { body in
      try execution.scan(range, LentTransaction(transaction), Execution.Taker(take: body))
    }
  }

  /// The record in front of the first one belongs to the part before. Where a key in a branch page is damaged, the
  /// way down passes over records, which stand in front of it then.
  private func checkJoins() throws {
    if range.lower.isEmpty { return }
    var cursor = try LentTransaction(transaction).cursor(in: execution.binding.collection.documents)
    let doesJoin = try range.lower.withUnsafeBytes { lower in
      _ = try cursor.seek(atOrAfter: lower)
      return try cursor.previous() && Bytes.compare(cursor.key, lower) < 0
    }
    if !doesJoin { throw PartsDoNotJoin() }
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

/// Between two parts lie records that belong to neither.
private struct PartsDoNotJoin: Error {}

/// The result of each part. No two threads write the same one.
private final class PartResults<Part>: @unchecked Sendable {
  private let results: UnsafeMutableBufferPointer<Result<Part, any Error>?>
  private let firstFailed = Atomic<Int>(.max)

  init(count: Int) {
    results = .allocate(capacity: count)
    results.initialize(repeating: nil)
  }

  deinit {
    results.deinitialize()
    results.deallocate()
  }

  /// Nobody asks for parts behind one that has failed.
  func set(_ number: Int, _ body: () throws -> Part) {
    if firstFailed.load(ordering: .relaxed) < number { return }
    let result = Result { try body() }
    if case .failure = result { firstFailed.min(number, ordering: .relaxed) }
    results[number] = result
  }

  /// - Returns: Nil where parts do not join.
  /// - Throws: Why the first part that has failed did.
  func joined() throws -> [Part]? {
    for case .failure(is PartsDoNotJoin)? in results { return nil }
    return try results.compactMap { try $0?.get() }
  }
}
