import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Document struct Subscriber: Equatable {
  var id: Int
  @Indexed(unique: true) var mail: String
}

/// What a salvage makes of stores that it cannot read or save whole.
@Suite(.timeLimit(.minutes(20))) struct PartialSalvageTests {
  private let folder = TestFolder()

  @Test("a document whose unique value another one has by now keeps nobody from being saved")
  func clashing() throws {
    let old = folder.path + "/old"
    let damaged = try Store(at: old)
    try damaged.repository(of: Subscriber.self).save(
      (0..<5000).map { Subscriber(id: $0, mail: "m\($0)") })
    try damaged.repository(of: Note.self).save(Note(id: "a", nonce: "n", batchCount: 1))
    try damaged.close()
    let store = try Store(at: folder.store)
    let subscribers = store.repository(of: Subscriber.self)
    try subscribers.save(Subscriber(id: 100_000, mail: "m4321"))

    let report = try store.salvage(from: URL(filePath: old))

    #expect(report.documentCounts == ["Subscriber": 4999, "Note": 1])
    #expect(report.unsaved["Subscriber"]?.count == 1)
    #expect(try subscribers.count() == 5000)
    #expect(try subscribers.get(4321) == nil)
    #expect(try subscribers.get(4999)?.mail == "m4999")
    let again = try store.salvage(from: URL(filePath: old))
    #expect(again.documentCount == 0 && again.unsaved["Subscriber"]?.count == 1)
    try verifyAndClose(store)
  }

  @Test(
    "of a file without its first pages nothing is saved, and the report says that all pages are lost"
  )
  func withoutMetaPages() throws {
    let old = folder.path + "/old"
    let damaged = try Store(at: old)
    try damaged.repository(of: Note.self).save(
      (0..<1000).map { Note(id: "\($0)", nonce: "n", batchCount: 1) })
    try damaged.close()
    var bytes = try contents(of: old + "/data.mdb")
    bytes.replaceSubrange(0..<8192, with: [UInt8](repeating: 0, count: 8192))
    try replaceContents(of: old + "/data.mdb", by: bytes)
    let store = try Store(at: folder.store)

    let report = try store.salvage(from: URL(filePath: old))

    #expect(report.documentCount == 0)
    #expect(report.skippedPageCount == bytes.count / 4096)
    try verifyAndClose(store)
  }

  @Test("a quarantine goes on also where the name of the folder has line feeds")
  func lineFeed() throws {
    let path = folder.path + "/a\nb\n"
    let store = try Store(at: path)
    let text = String(repeating: "x", count: 3000)
    try store.repository(of: Note.self).save(
      (0..<4000).map { Note(id: "\($0)", nonce: text, batchCount: 1) })
    try store.close()
    let url = URL(filePath: path, directoryHint: .isDirectory)

    #expect(throws: CancellationError.self) {
      try Store.quarantine(at: url) { news in
        if try #require(news.documentCount) >= 2000 { throw CancellationError() }
      }
    }
    #expect(storeError { _ = try Store(at: path) } != nil)
    let report = try Store.quarantine(at: url)

    #expect((1...2000).contains(report.salvage.documentCount))
    let again = try Store(at: path)
    #expect(try again.repository(of: Note.self).count() == 4000)
    try verifyAndClose(again)
  }

  @Test("a check of a store whose file is gone says so")
  func gone() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "n", batchCount: 1))
    try FileManager.default.moveItem(atPath: folder.data, toPath: folder.path + "/elsewhere")

    let error = storeError { _ = try store.check() }

    let code: StorageFailure.Code? =
      if case .storage(let failure)? = error { failure.code } else { nil }
    #expect(code == .lockFileReplaced)
    try? store.close()
  }
}
