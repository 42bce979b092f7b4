internal import LarderLMDB
package import Synchronization

// Large collections are read by several threads, each of which takes one part of the keys after another.

/// When several threads share the work of a read.
package enum ParallelRead {
  /// Collections with fewer documents are read by one thread. With 20,000, two threads take 0.7 of its time; what
  /// fewer gain was not measured.
  package static let leastDocumentCount = Atomic<Int>(16_384)
}

/// The keys of a large collection, cut into parts that several threads can read side by side.
struct KeyParts {
  /// In the order of the keys. All have about as many pages.
  let ranges: [KeyRange]
  let documentCount: Int
  private let documents: Database

  /// So many that no thread waits long for another whose part takes longer.
  private static let usualMaximumCount = 32
  /// Documents of small parts, for those whose results are held in memory until their turn comes.
  private static let smallDocumentCount = 1_000
  /// Small parts at most: it is looked at the beginning of each before anything else is done.
  private static let mostSmall = 1_024

  /// - Parameter areSmall: Whether there are as many as there are thousands of documents.
  /// - Returns: Nil where one thread has to do: there are few documents, or no further threads.
  init?(
    of collection: Collection, _ transaction: borrowing LentTransaction, areSmall: Bool = false
  ) throws {
    guard try Self.mayDivide(collection, transaction) else { return nil }
    documents = collection.documents
    documentCount = try transaction.statistics(of: documents).entryCount
    let count = areSmall ? min(documentCount / Self.smallDocumentCount, Self.mostSmall) : 0
    let cuts = try transaction.cuts(
      of: documents, named: Layout.documentsName(of: collection.name),
      maximumCount: max(count, Self.usualMaximumCount) - 1
    ).map { [UInt8]($0) }
    if cuts.isEmpty { return nil }
    ranges = zip([[]] + cuts, cuts.map(Optional.init) + [nil]).map {
      KeyRange(lower: $0, upper: $1)
    }
  }

  /// Whether a collection is large enough, and there are further threads.
  static func mayDivide(
    _ collection: Collection, _ transaction: borrowing LentTransaction
  ) throws -> Bool {
    guard transaction.canWorkInParallel else { return false }
    let count = try transaction.statistics(of: collection.documents).entryCount
    return count >= ParallelRead.leastDocumentCount.load(ordering: .relaxed)
  }

  /// Has several threads make something of each part.
  ///
  /// - Parameter haveJoined: Whether ``join(_:)`` has looked already.
  /// - Parameter make: Called for several parts at once, each with a transaction that sees the same.
  /// - Returns: What was made of the parts, in the order of the keys. Nil where one thread has to do: no reader is free,
  ///   or somebody has written meanwhile. Nil, too, where the parts turn out not to join, as in a damaged file: one
  ///   thread, which goes from page to page, does not depend on the keys that cut them.
  /// - Throws: What `make` throws for the first part for which it does.
  func make<Part>(
    _ transaction: borrowing LentTransaction, haveJoined: Bool = false,
    _ make: @Sendable (_ number: Int, KeyRange, borrowing LentTransaction) throws -> Part
  ) throws -> [Part]? {
    let results = PartResults<Part>(count: ranges.count)
    let isDone = transaction.inParallel(ranges.count) { number, transaction in
      results.set(number) {
        if !haveJoined { try checkJoins(ranges[number], transaction) }
        return try make(number, ranges[number], transaction)
      }
    }
    return isDone ? try results.joined() : nil
  }

  /// Whether the parts join, which ``make(_:_:)`` finds out part by part.
  func join(_ transaction: borrowing LentTransaction) throws -> Bool {
    do {
      for range in ranges { try checkJoins(range, transaction) }
      return true
    } catch is PartsDoNotJoin {
      return false
    }
  }

  /// The record in front of the first one belongs to the part before. Where a key in a branch page is damaged, the
  /// way down passes over records, which stand in front of it then.
  private func checkJoins(
    _ range: KeyRange, _ transaction: borrowing LentTransaction
  ) throws {
    if range.lower.isEmpty { return }
    var cursor = try transaction.cursor(in: documents)
    let doesJoin = try range.lower.withUnsafeBytes { lower in
      _ = try cursor.seek(atOrAfter: lower)
      return try cursor.previous() && Bytes.compare(cursor.key, lower) < 0
    }
    if !doesJoin { throw PartsDoNotJoin() }
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
