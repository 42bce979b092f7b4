import Foundation
import Larder
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct LimitTests {
  let folder = TestFolder()

  private func code(of error: StoreError?) -> StorageFailure.Code? {
    guard case .storage(let failure)? = error else { return nil }
    return failure.code
  }

  @Test("a store that is full says so, loses nothing, and still reads")
  func mapFull() throws {
    var options = StoreOptions()
    options.mapByteCount = 256 << 10
    let store = try Store(at: folder.store, options: options)
    let accounts = store.repository(of: Account.self)
    var saved: [Account] = []
    var error: StoreError?
    for round in 0..<200 where error == nil {
      let batch = (0..<20).map {
        Account(
          number: round * 20 + $0, balance: round, text: String(repeating: "x", count: 100))
      }
      do {
        try accounts.save(batch)
        saved += batch
      } catch let failure as StoreError {
        error = failure
      }
    }
    guard case .full(let shortage)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(shortage.limit == .quota)
    #expect(error?.description.contains("mapByteCount") == true)
    #expect(saved.count > 100)
    #expect(try accounts.fetch(Account.all) == saved)
    #expect(try store.check().isSound)

    let deleted = saved.count / 2
    for account in saved.prefix(deleted) {
      #expect(try accounts.delete(keys: [account.number]) == 1)
    }
    #expect(try accounts.count() == saved.count - deleted)
    try verifyAndClose(store)

    options.mapByteCount = 8 << 20
    let larger = try Store(at: folder.store, options: options)
    try larger.repository(of: Account.self).save(saved)
    #expect(try larger.repository(of: Account.self).fetch(Account.all) == saved)
    #expect(try larger.repository(of: Account.self).delete(Account.all) == saved.count)
    try verifyAndClose(larger)
  }

  @Test("more snapshots at once than there is room for are one clear error")
  func readersFull() throws {
    var options = StoreOptions()
    options.maximumReaderCount = 4
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
    func deeper(_ depth: Int) throws -> Int {
      try store.read { _ in depth < 10 ? try deeper(depth + 1) : depth }
    }

    let error = storeError { _ = try deeper(0) }

    #expect(code(of: error) == .readersFull)
    #expect(try store.repository(of: Note.self).count() == 1)
    try store.repository(of: Note.self).save(Note(id: "b", nonce: "", batchCount: 1))
    try verifyAndClose(store)
  }

  @Test("a document of several megabytes is stored whole, and its pages are used again")
  func largeDocument() throws {
    try withTemporaryStore { store in
      let accounts = store.repository(of: Account.self)
      var sizes: [Int] = []
      for round in 0..<6 {
        let text = String(repeating: "\(round) and ", count: 500_000)
        try accounts.save(Account(number: 1, balance: round, text: text))
        let stored = try accounts.get(1)
        #expect(stored?.text == text)
        sizes.append(try store.statistics().fileByteCount)
      }
      // The change log keeps what the document was before, five times 4 MB; the document itself
      // takes no more than at first, or two more.
      let logged = 5 * 4_000_000
      #expect(sizes[5] < sizes[0] + logged + 9_000_000)
    }
  }
}
