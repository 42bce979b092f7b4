internal import LarderLMDB
package import Synchronization

// Large collections are read by several threads, each of which takes one part of the keys after another.

package enum ParallelRead {
  /// Collections with fewer documents are read by one thread: to wake another one takes as long as to read some
  /// hundred documents.
  package static let leastDocumentCount = Atomic<Int>(16_384)
}

extension Execution {
  /// Parts for each thread: so many that none waits long for another whose part takes longer.
  private static let mostParts = 32

  /// What is made of the documents that match, in parts by several threads, in the order of the keys.
  ///
  /// - Parameter make: Makes something of one part; called for several at once.
  /// - Returns: Nil, and `make` was not called, where one thread has to do: few documents are to be read, or an index
  ///   finds them, or they are sorted.
  /// - Throws: What `make` throws for the first part for which it does.
  func inParts<Part>(
    _ transaction: borrowing LentTransaction, _ make: @Sendable (ReadPart) throws -> Part
  ) throws -> [Part]? {
    guard let ranges = try parts(transaction) else { return nil }
    let results = PartResults<Part>(count: ranges.count)
    // Only the scan is asked of it, which changes nothing.
    nonisolated(unsafe) let execution = self
    let isDone = transaction.inParallel(ranges.count) { number, transaction in
      results.set(number) {
        try make(ReadPart(execution, ranges[number], transaction.handle))
      }
    }
    return isDone ? try results.all() : nil
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

  /// Where the documents lie that match, in parts; nil as ``inParts(_:_:)`` says, and where nothing is to be asked of
  /// documents.
  func foundInParts(
    _ transaction: borrowing LentTransaction
  ) throws -> [[(key: Key, record: Record)]]? {
    if residual.matchesAll { return nil }
    return try inParts(transaction) { part in
      var found: [(key: Key, record: Record)] = []
      try part.forEach { key, record in
        found.append((key, record))
        return true
      }
      return found
    }
  }

  /// The ranges of keys that are worth being read side by side, in their order; nil where there are none.
  private func parts(_ transaction: borrowing LentTransaction) throws -> [KeyRange]? {
    guard tally == nil, case .everything = plan.source, case .keys = plan.order else { return nil }
    let documents = binding.collection.documents
    let count = try transaction.statistics(of: documents).entryCount
    guard count >= ParallelRead.leastDocumentCount.load(ordering: .relaxed) else { return nil }
    let cuts = try transaction.cuts(
      of: documents, named: Layout.documentsName(of: binding.collection.name),
      most: Self.mostParts - 1
    ).map { [UInt8]($0) }
    if cuts.isEmpty { return nil }
    return zip([[]] + cuts, cuts.map { $0 } + [nil]).map { KeyRange(lower: $0, upper: $1) }
  }
}

/// One part of the documents that a query selects, for the thread that reads it.
@usableFromInline struct ReadPart {
  private let execution: Execution
  private let range: KeyRange
  private let transaction: TransactionHandle

  init(_ execution: Execution, _ range: KeyRange, _ transaction: TransactionHandle) {
    self.execution = execution
    self.range = range
    self.transaction = transaction
  }

  /// Lends the documents that match, in the order of their keys.
  func forEach(_ body: Execution.Body) throws {
    try withoutActuallyEscaping(body) { body in
      try execution.scan(range, LentTransaction(transaction), Execution.Taker(take: body))
    }
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

/// What has come of each part. Threads write different ones.
private final class PartResults<Part>: @unchecked Sendable {
  private let results: UnsafeMutableBufferPointer<Result<Part, any Error>?>
  private let hasFailed = Atomic<Bool>(false)

  init(count: Int) {
    results = .allocate(capacity: count)
    results.initialize(repeating: nil)
  }

  deinit {
    results.deinitialize()
    results.deallocate()
  }

  /// Parts are begun in their order, so that nobody asks for those behind one that has failed.
  func set(_ number: Int, _ body: () throws -> Part) {
    if hasFailed.load(ordering: .relaxed) { return }
    let result = Result { try body() }
    if case .failure = result { hasFailed.store(true, ordering: .relaxed) }
    results[number] = result
  }

  /// - Throws: Why the first part that has failed did.
  func all() throws -> [Part] { try results.compactMap { try $0?.get() } }
}
