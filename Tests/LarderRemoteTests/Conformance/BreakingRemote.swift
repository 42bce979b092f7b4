import Foundation
import LarderLMDB
import LarderRemote
import LarderTesting

/// A promise that a ``BreakingRemote`` does not keep.
enum RemoteBreach: String, CaseIterable, Sendable {
  /// Changes are numbered before they are committed.
  case numberBeforeCommit
  /// Cursors are times of a clock that does not move with every change.
  case cursorByTime
  /// Pages are counted from the beginning of all documents.
  case pagesByOffset
  case neverSameCursor
  /// A page that is not the last one has the cursor that was sent.
  case cursorStands
  case skipLastOfPage
  case noCompareAndSet
  case createOverwrites
  case loseTombstones
  case firstLoadHasTombstones
  case deletedTwiceConflicts
  case staleConflict
  /// What comes before a failure is rolled back, and answered as accepted.
  case batchLies
  /// A failure ends the batch; what is behind it is answered as accepted.
  case batchStops
  case poisonFailsBatch
  case idsForgotten
  /// Only the newest mutation of a document is known by its id.
  case idsForgottenLater
  case reusedIDApplies
  case resultsInOtherOrder
  case numbersBecomeDoubles
  case keysInOneCase
  case revisionOfContent
  case moveIsDeletion
  case moveIsSilent
  case limitTruncates
  case countIsWrong
  case manifestIsCut
}

/// A remote that keeps all promises but one, over one that keeps all.
final class BreakingRemote: Remote {
  let breach: RemoteBreach
  let server: InMemoryRemote
  /// Where cursors are made here: the number of each document's last change.
  let stamps = Locked<[RemoteKey: Int]>([:])
  let nextStamp = Locked(0)
  let seen = Locked<[RemoteKey: Set<String>]>([:])
  /// The largest number that a cursor given out here stands for.
  let lastRead = Locked(0)
  /// Whether a commit was put off.
  let hasPutOff = Locked(false)

  init(_ breach: RemoteBreach, _ server: InMemoryRemote) {
    self.breach = breach
    self.server = server
  }

  func facts() async throws -> RemoteFacts { try await server.facts() }

  func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? {
    server.hints(scopes)
  }

  func count(_ scope: String) async throws -> Int? {
    try await server.count(scope).map { breach == .countIsWrong ? $0 + 1 : $0 }
  }

  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    var answer = try await server.manifest(request)
    if breach == .manifestIsCut { answer.hasMore = false }
    return answer
  }

  // MARK: Pulls

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    switch breach {
    case .numberBeforeCommit, .cursorByTime: return try await pullByStamp(request)
    case .pagesByOffset: return try await pullByOffset(request)
    case .firstLoadHasTombstones where request.cursor == nil:
      return try await server.pull(
        PullRequest(scope: request.scope, cursor: "1.0.0", limit: request.limit))
    default: break
    }
    var request = request
    if breach == .neverSameCursor, let cursor = request.cursor {
      request.cursor = String(cursor.prefix { $0 != "#" })
    }
    var answer = try await server.pull(request)
    switch breach {
    case .neverSameCursor:
      answer.cursor += "#\(nextStamp.withLock { $0 += 1; return $0 })"
    case .cursorStands where answer.hasMore: answer.cursor = request.cursor ?? answer.cursor
    case .skipLastOfPage where answer.hasMore: answer.changes.removeLast()
    case .loseTombstones: answer.changes.removeAll { $0.content == .deleted }
    case .numbersBecomeDoubles: answer.changes = answer.changes.map(\.withDoubles)
    case .moveIsSilent: answer.changes.removeAll { $0.content == .left }
    case .moveIsDeletion:
      for index in answer.changes.indices where answer.changes[index].content == .left {
        answer.changes[index].content = .deleted
      }
    case .revisionOfContent:
      for index in answer.changes.indices {
        answer.changes[index].revision = Self.revision(answer.changes[index])
      }
    default: break
    }
    return answer
  }

  /// Everything that the scope has and had.
  private func everything(_ scope: String) async throws -> [RemoteChange] {
    var changes: [RemoteKey: RemoteChange] = [:]
    var cursor: String? = "1.0.0"
    while true {
      let answer = try await server.pull(PullRequest(scope: scope, cursor: cursor, limit: 1000))
      for change in answer.changes { changes[change.key] = change }
      cursor = answer.cursor
      if !answer.hasMore { return Array(changes.values) }
    }
  }

  private func pullByStamp(_ request: PullRequest) async throws -> PullAnswer {
    let from = request.cursor.flatMap { Int($0) } ?? 0
    let all = try await everything(request.scope)
    let stamps = stamps.withLock { $0 }
    let found =
      all.filter { stamps[$0.key, default: 0] > from }
      .filter { request.cursor != nil || $0.content != .deleted }
      .sorted { (stamps[$0.key, default: 0], $0.key) < (stamps[$1.key, default: 0], $1.key) }
    let page = Array(found.prefix(request.limit))
    let cursor = page.last.map { stamps[$0.key, default: 0] } ?? from
    lastRead.withLock { $0 = max($0, cursor) }
    return PullAnswer(changes: page, cursor: "\(cursor)", hasMore: found.count > page.count)
  }

  private func pullByOffset(_ request: PullRequest) async throws -> PullAnswer {
    // Page by page through all that is there, and then from the change on that it ended at.
    let parts = (request.cursor ?? "0/").split(separator: "/", omittingEmptySubsequences: false)
    guard let offset = Int(parts[0]) else {
      var answer = try await server.pull(
        PullRequest(
          scope: request.scope, cursor: String(parts[1]), limit: request.limit))
      answer.cursor = "x/" + answer.cursor
      return answer
    }
    let there = server.documents(in: request.scope).sorted { $0.key < $1.key }
    let page = there.dropFirst(offset).prefix(request.limit).compactMap { entry in
      entry.value.document.map {
        RemoteChange(entry.key, revision: entry.value.revision, .document($0))
      }
    }
    if offset + page.count < there.count {
      return PullAnswer(changes: page, cursor: "\(offset + page.count)/", hasMore: true)
    }
    var end = try await server.pull(PullRequest(scope: request.scope, limit: 1000))
    while end.hasMore {
      end = try await server.pull(
        PullRequest(scope: request.scope, cursor: end.cursor, limit: 1000))
    }
    return PullAnswer(changes: page, cursor: "x/" + end.cursor, hasMore: false)
  }

  /// One that only the content decides.
  static func revision(_ change: RemoteChange) -> String {
    guard case .document(let document) = change.content else { return change.revision }
    return "of \(document.json.hashValue)"
  }
}

extension RemoteChange {
  /// As a server does that reads JSON into doubles.
  fileprivate var withDoubles: RemoteChange {
    guard case .document(let document) = content,
      let value = try? JSONSerialization.jsonObject(with: document.json) as? [String: Any]
    else { return self }
    var change = self
    let doubles = value.mapValues { ($0 as? NSNumber).map { $0.doubleValue as Any } ?? $0 }
    if let json = try? JSONSerialization.data(withJSONObject: doubles) {
      change.content = .document(RemoteDocument(json: json))
    }
    return change
  }
}
