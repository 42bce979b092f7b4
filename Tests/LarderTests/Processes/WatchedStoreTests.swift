import Foundation
import LarderTestProcess
import Testing

@testable import Larder

@Suite struct WatchedStoreTests {
  @Test("the saves of another process arrive", .timeLimit(.minutes(20)), arguments: [true, false])
  func otherProcess(isPolled: Bool) async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    let writer = try OtherProcess("write", folder.store)
    var changes = notes.watch(Note.all).makeAsyncIterator()
    var list: [Note] = []
    var steps = 0
    while list.count < 300 {
      let change = try #require(try await changes.next())
      list.apply(change)
      steps += 1
      // Without it only the file system can tell.
      if !isPolled { store.engine.watchHub.stopLookingNowAndThen() }
    }
    writer.kill()

    // The writer may have saved more before it ended.
    let rest = try notes.fetch(Note.all)
    if rest.count > list.count { list.apply(try #require(try await changes.next())) }
    #expect(list.map(\.id) == rest.map(\.id))
    #expect(steps > 1)
    try store.close()
  }
}
