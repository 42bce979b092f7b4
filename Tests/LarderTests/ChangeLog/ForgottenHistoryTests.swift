import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// What is left of documents when the change log is dropped with them.
@Suite(.timeLimit(.minutes(20))) struct ForgottenHistoryTests {
  @Document
  struct Letter: Identifiable, Equatable {
    var id: String
    var nonce: String
    @Indexed var batchCount: Int
  }

  private let folder = TestFolder()

  private let secrets = (0..<200).map {
    Letter(id: "astrid-\($0)", nonce: "classified", batchCount: 1)
  }

  /// Saves, changes and deletes, so that the log has each document as it was.
  private func write(_ store: Store) throws {
    let notes = store.repository(of: Letter.self)
    try notes.save(secrets)
    try notes.save(secrets.map { Letter(id: $0.id, nonce: "classified too", batchCount: 2) })
    try notes.delete(Letter.where { $0.batchCount == 2 && $0.id < "astrid-5" })
  }

  @Test("nothing of erased documents is left in the history, nor in a file that was compacted")
  func nothingLeft() throws {
    let store = try Store(at: folder.store)
    try write(store)
    #expect(try store.history().changes.contains { $0.old != nil })

    try store.write { tx in
      try tx.eraseAllData(of: Letter.self)
      try tx.forgetHistory()
    }
    try store.collection("Letter").rebuildIndexes()
    try store.compact()

    #expect(try store.history().changes.allSatisfy { $0.old == nil && $0.key == .null })
    try verifyAndClose(store)
    let bytes = try Data(contentsOf: URL(filePath: folder.data))
    #expect(bytes.range(of: Data("classified".utf8)) == nil)
    #expect(bytes.range(of: Data("astrid".utf8)) == nil)
  }

  @Test("watchers go on, tokens and consumers of before begin anew, and what follows is logged")
  func goingOn() async throws {
    try await withTemporaryStore { store in
      try write(store)
      let notes = store.repository(of: Letter.self)
      var watch = notes.watchCount(Letter.all).makeAsyncIterator()
      #expect(try await watch.next() != 0)
      var consumer = store.changes(for: "tally").makeAsyncIterator()
      let first = try #require(try await consumer.next())
      try await store.write { try $0.acknowledge(first) }
      let token = try store.changeToken()
      try await notes.save(Letter(id: "unseen", nonce: "n", batchCount: 0))

      try await store.write { tx in
        try tx.eraseAllData(of: Letter.self)
        try tx.forgetHistory()
      }

      #expect(try await watch.next() == 0)
      #expect(try store.history(since: token).isReset)
      #expect(try await consumer.next()?.isReset == true)
      let later = try store.changeToken()
      try await notes.save(Letter(id: "new", nonce: "n", batchCount: 0))
      #expect(try await watch.next() == 1)
      let changes = try store.history(since: later).changes
      #expect(changes.map(\.key) == [.string("new")])
    }
  }

  @Test("a write that fails behind it keeps the history, and alone it changes no document")
  func undone() throws {
    struct Stop: Error {}
    try withTemporaryStore { store in
      try write(store)
      let before = try store.history().changes.count
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.forgetHistory()
          throw Stop()
        }
      }
      #expect(try store.history().changes.count == before)
      let (sequence, count) = (
        try store.changeToken().sequence, try store.repository(of: Letter.self).count()
      )

      try store.write { try $0.forgetHistory() }

      #expect(try store.changeToken().sequence == sequence)
      #expect(try store.repository(of: Letter.self).count() == count)
      #expect(try store.history().isReset)
    }
  }
}
