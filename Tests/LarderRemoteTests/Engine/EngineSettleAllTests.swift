import Larder
import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

@Document private struct Peg: Equatable {
  var id: String
  @Indexed(unique: true) var slot: String?
  var text = ""
}

/// Rejects every edit while it is told to.
private final class Strict: Remote {
  let server = InMemoryRemote()
  let isRejecting = Locked(false)

  func facts() async throws -> RemoteFacts { try await server.facts() }
  func pull(_ request: PullRequest) async throws -> PullAnswer { try await server.pull(request) }
  func count(_ scope: String) async throws -> Int? { try await server.count(scope) }
  func push(_ request: PushRequest) async throws -> [PushResult] {
    guard isRejecting.withLock({ $0 }) else { return try await server.push(request) }
    return request.mutations.map { _ in .rejected(code: "not-now", reason: "said so") }
  }
}

/// Edits that wait are decided many at once.
@Suite("many edits that wait are settled together", .timeLimit(.minutes(20)))
struct EngineSettleAllTests {
  private func key(_ id: String) -> RemoteKey { RemoteKey("Peg", id) }

  private func peg(_ id: String, slot: String? = nil, text: String = "") -> RemoteDocument {
    RemoteDocument(
      #"{"id":"\#(id)","slot":\#(slot.map { "\"\($0)\"" } ?? "null"),"text":"\#(text)"}"#)
  }

  private func desk(_ remote: any Remote, isAsking: Bool = false) throws -> SyncDesk {
    try SyncDesk(
      remote,
      collections: [
        SyncedCollection(
          Peg.self, deletions: isAsking ? .ask : .editWins,
          resolver: { _ in isAsking ? .ask : .merged })
      ])
  }

  @Test("all rejected edits are sent again, and what was not rejected is passed over")
  func retry() async throws {
    let remote = Strict()
    let desk = try desk(remote)
    remote.isRejecting.withLock { $0 = true }
    let pegs = (0..<600).map { Peg(id: "\($0)", text: "here") }
    try await desk.store.repository(of: Peg.self).save(pegs)
    try await desk.sync()
    let rejected = try desk.engine.rejected().map(\.key)
    #expect(desk.engine.currentState.rejectedCount == 600)

    let count = try await desk.engine.retry(all: [key("none")] + rejected + rejected)

    #expect(count == 600)
    #expect(desk.engine.currentState.rejectedCount == 0)
    #expect(desk.engine.currentState.pendingCount == 600)
    #expect(try await desk.engine.retry(all: rejected) == 0)
    #expect(try await desk.engine.retry(all: []) == 0)
    remote.isRejecting.withLock { $0 = false }
    try await desk.sync()
    #expect(try await remote.server.count("all") == 600)
    #expect(desk.engine.currentState.pendingCount == 0)
    try desk.close()
  }

  @Test("edits are taken back together, also where one has the value that another one had before")
  func discard() async throws {
    let remote = Strict()
    let desk = try desk(remote)
    let pegs = desk.store.repository(of: Peg.self)
    let ids = ["a", "c", "d", "e"]
    for id in ids { remote.server.put(key(id), peg(id, slot: id, text: "there"), in: "all") }
    try await desk.sync()
    remote.isRejecting.withLock { $0 = true }
    try await pegs.update(Peg.all) { ($0.text, $0.slot) = ("here", nil) }
    try await pegs.save(Peg(id: "b", slot: "a", text: "here"))
    try await desk.sync()
    #expect(desk.engine.currentState.rejectedCount == 5)

    // `a` cannot have its slot back while `b` is there.
    let count = try await desk.engine.discard(all: (ids + ["b"]).map(key))

    #expect(count == 5)
    #expect(try desk.engine.pending().isEmpty)
    #expect(desk.engine.currentState.pendingCount == 0)
    #expect(try pegs.get("b") == nil)
    #expect(try pegs.fetch(Peg.where { $0.id > "b" }).map(\.slot) == ["c", "d", "e"])
    try await desk.sync()
    #expect(try pegs.get("a") == Peg(id: "a", slot: "a", text: "there"))
    #expect(desk.engine.currentState.refusedCount == 0)
    try desk.close()
  }

  @Test("conflicts are settled together; the one that cannot be is told, and keeps nobody from it")
  func settle() async throws {
    let remote = Strict()
    let desk = try desk(remote, isAsking: true)
    let pegs = desk.store.repository(of: Peg.self)
    let ids = (0..<20).map { "\($0)" }
    try await pegs.save(ids.map { Peg(id: $0) })
    try await desk.sync()
    for id in ids { remote.server.put(key(id), peg(id, text: "there"), in: "all") }
    try await pegs.update(Peg.all) { $0.text = "here" }
    // What one has deleted and the other changed cannot be merged.
    try await pegs.delete(key: "7")
    try await desk.sync()
    #expect(desk.engine.currentState.conflictCount == 20)

    let one = Resolution.document(["id": "1", "text": "both"])
    await #expect(throws: SyncError.self) {
      try await desk.engine.settle(all: ids.map(key), as: one)
    }
    #expect(desk.engine.currentState.conflictCount == 20)
    #expect(try await desk.engine.settle(all: [key("1")], as: one) == 1)

    #expect(try await desk.engine.settle(all: ids.prefix(5).map(key), as: .there) == 4)
    #expect(try pegs.get(keys: ["0", "1", "4"]).map(\.text) == ["there", "both", "there"])
    #expect(try await desk.engine.settle(all: ids.suffix(5).map(key), as: .here) == 5)

    let error = await #expect(throws: SyncError.self) {
      try await desk.engine.settle(all: ids.map(key), as: .merged)
    }
    guard case .unmergeable(key("7"), _)? = error else { throw error ?? .accountChanged }
    #expect(try desk.engine.conflicts().map(\.key) == [key("7")])
    try await desk.sync()
    #expect(try await desk.engine.settle(all: [key("7")], as: .there) == 1)
    try await desk.sync()
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }
}
