import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@Suite struct StoreProgressTests {
  private typealias Progress = (StoreProgress) throws -> Void

  private let folder = TestFolder()

  private func makeStore() throws -> Store {
    let store = try Store(at: folder.store)
    let text = String(repeating: "x", count: 1000)
    try store.repository(of: Note.self).save(
      (0..<3000).map { Note(id: "\($0)", nonce: text, batchCount: $0) })
    return store
  }

  /// Synchronous operations that say how far they are. The building of an index is none of them: the
  /// background may have finished it.
  private func operations(
    _ store: Store
  ) throws -> [(name: String, phase: StoreProgress.Phase, run: (Progress) throws -> Void)] {
    let backup = folder.path + "/backup"
    try store.backup(to: backup)
    return [
      ("compact", .copying, { _ = try store.compact(progress: $0) }),
      ("back up", .copying, { _ = try store.backup(to: folder.path + "/other", progress: $0) }),
      (
        "restore", .checking,
        { _ = try Store.restore(from: backup, to: folder.path + "/new", progress: $0) }
      ),
      ("check", .checking, { _ = try store.check(progress: $0) }),
      ("salvage", .salvaging, { _ = try store.salvage(from: URL(filePath: backup), progress: $0) }),
    ]
  }

  @Test("what a closure throws that is told of progress ends the work, and is thrown on")
  func throwing() throws {
    let store = try makeStore()
    for operation in try operations(store) {
      var told: [StoreProgress] = []
      #expect(throws: Unexpected.self, "\(operation.name)") {
        try operation.run { news in
          told.append(news)
          throw Unexpected()
        }
      }
      #expect(told.map(\.phase) == [operation.phase], "\(operation.name)")
      #expect(told.allSatisfy { (0...1).contains($0.fraction ?? 0) }, "\(operation.name)")
    }
    #expect(try store.repository(of: Note.self).count() == 3000)
    try verifyAndClose(store)
  }

  @Test("a synchronous call ends where the task that it runs in was cancelled")
  func cancelled() async throws {
    let store = try makeStore()
    let outcomes = try await Task {
      let all = try operations(store)
      // By itself, so that nothing depends on when.
      withUnsafeCurrentTask { $0?.cancel() }
      return all.map { operation in
        do {
          try operation.run { _ in }
          return "\(operation.name) went on"
        } catch is CancellationError {
          return "ended"
        } catch {
          return "\(operation.name): \(error)"
        }
      }
    }.value

    #expect(outcomes == Array(repeating: "ended", count: outcomes.count))
    try verifyAndClose(store)
  }
}
