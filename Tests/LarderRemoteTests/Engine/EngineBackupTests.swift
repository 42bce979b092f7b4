import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@testable import LarderRemote

/// Stores that were restored from backups with edits that had not been sent.
@Suite("restored backups", .timeLimit(.minutes(20))) struct EngineBackupTests {
  private let server = InMemoryRemote()
  private let folder = TestFolder()

  private func desk(_ name: String) throws -> SyncDesk {
    try SyncDesk(server, store: try Store(at: folder.url.appending(path: name)))
  }

  /// A backup of a store with an edit of a card that was not sent: 1 became 6.
  private func backup() async throws -> URL {
    let desk = try desk("original")
    try await desk.cards.save(Card(id: "a", count: 1))
    try await desk.sync()
    try await desk.cards.update("a") { $0.count += 5 }
    let backup = folder.url.appending(path: "backup")
    try await desk.store.backup(to: backup)
    try desk.close()
    return backup
  }

  private func restored(_ name: String, _ backup: URL) throws -> SyncDesk {
    try Store.restore(from: backup, to: folder.url.appending(path: name))
    return try desk(name)
  }

  private func counts(_ desks: [SyncDesk]) throws -> [Int] {
    try desks.map { try $0.cards.get("a")?.count ?? 0 }
  }

  @Test("an edit that was sent behind the backup is not applied again")
  func sentBehind() async throws {
    let backup = try await backup()
    let original = try desk("original")
    try await original.sync()
    #expect(try counts([original]) == [6])
    try original.close()

    let restored = try restored("original", backup)
    for _ in 0..<2 { try await restored.sync() }

    #expect(try counts([restored]) == [6])
    #expect(try restored.engine.pending().isEmpty)
    let other = try desk("other")
    try await other.sync()
    #expect(try counts([other]) == [6])
    for desk in [restored, other] { try desk.close() }
  }

  @Test("what two stores make of one backup are two edits, also where they are the same")
  func twoStores() async throws {
    let backup = try await backup()
    let desks = [try restored("one", backup), try restored("two", backup)]
    for _ in 0..<2 { for desk in desks { try await desk.sync() } }
    #expect(try counts(desks) == [6, 6])
    for desk in desks { try await desk.cards.update("a") { $0.count += 1 } }

    for _ in 0..<2 { for desk in desks { try await desk.sync() } }

    #expect(try counts(desks) == [8, 8])
    for desk in desks { try desk.close() }
  }

  @Test("an edit that was rejected and is tried again has another name")
  func triedAgain() async throws {
    let remote = RejectingOnce(server)
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a"))
    try await desk.sync()
    #expect(try desk.engine.rejected().map(\.key) == [.card("a")])

    try await desk.engine.retry(.card("a"))
    try await desk.sync()

    #expect(server.documents(in: "all").count == 1)
    #expect(try desk.engine.pending().isEmpty)
    let ids = remote.ids.withLock { $0 }
    #expect(ids.count == 2 && Set(ids).count == 2)
    try desk.close()
  }
}

/// Rejects the first edit.
private final class RejectingOnce: Remote {
  private let server: InMemoryRemote
  /// Of the edits that came.
  let ids = Locked<[String]>([])

  init(_ server: InMemoryRemote) { self.server = server }

  func facts() async throws -> RemoteFacts { try await server.facts() }
  func pull(_ request: PullRequest) async throws -> PullAnswer { try await server.pull(request) }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    let isFirst = ids.withLock { ids in
      defer { ids += request.mutations.map(\.id) }
      return ids.isEmpty
    }
    guard isFirst else { return try await server.push(request) }
    return request.mutations.map { _ in .rejected(code: "no", reason: "not now") }
  }
}
