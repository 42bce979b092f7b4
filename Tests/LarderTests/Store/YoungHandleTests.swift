import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// A transaction cannot use a handle that was opened after it began. Here another thread opens some
/// at the worst moment: between the begin of a transaction and its look at the catalogue.
@Suite struct YoungHandleTests {
  let folder = TestFolder()

  /// Has another process make a collection, and then another thread find out, once, while the next
  /// transaction of `store` has begun and read nothing.
  private func withLateNews(
    _ store: Store, _ body: () throws -> Void
  ) throws {
    let other = try OtherProcess("create", folder.store)
    _ = try other.expect("saved")
    let path = store.engine.environment.folder
    let hasCome = Flag()
    _ = CallFaults.watch(path) { call in
      if call == .get, !hasCome.isSet {
        hasCome.set()
        let reader = Threads(1) { _ in
          let count = try store.repository(of: Note.self).count()
          #expect(count == 1)
        }
        do { try reader.join() } catch { Issue.record(error) }
      }
      return nil
    }
    defer { CallFaults.stopWatching(path) }
    try body()
    #expect(hasCome.isSet)
  }

  @Test("a write in which another thread opens what another process made works")
  func write() throws {
    let store = try Store(at: folder.store)
    try store.collection("things").save([["id": "a"]], keyField: "id")
    try withLateNews(store) {
      _ = try store.write { try $0.save(Note(id: "second", nonce: "", batchCount: 1)) }
    }

    let ids = try store.repository(of: Note.self).fetch(Note.all).map(\.id)
    #expect(ids == ["first", "second"])
    try verifyAndClose(store)
  }

  @Test("a read in which another thread opens what another process made works")
  func read() throws {
    let store = try Store(at: folder.store)
    try store.collection("things").save([["id": "a"]], keyField: "id")
    try withLateNews(store) {
      let ids = try store.read { try $0.fetch(Note.all).map(\.id) }
      #expect(ids == ["first"])
    }

    try verifyAndClose(store)
  }
}
