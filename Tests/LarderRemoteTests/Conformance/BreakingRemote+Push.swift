import Foundation
import LarderLMDB
import LarderRemote
import LarderTesting

extension BreakingRemote {
  func push(_ request: PushRequest) async throws -> [PushResult] {
    var request = request
    switch breach {
    case .poisonFailsBatch:
      if request.mutations.contains(where: { $0.document?.description.contains("\\u0000") == true })
      {
        throw RemoteError.unavailable("the database makes an error")
      }
    case .noCompareAndSet:
      request.change { mutation in
        if mutation.base != nil { mutation.base = server.version(of: mutation.key)?.revision }
      }
    case .createOverwrites:
      request.change { mutation in
        if mutation.base == nil { mutation.base = server.version(of: mutation.key)?.revision }
        if server.version(of: mutation.key)?.document == nil { mutation.base = nil }
      }
    case .idsForgotten: request.change { $0.id = UUID().uuidString.lowercased() }
    case .idsForgottenLater:
      request.change { mutation in
        let isFirst = seen.withLock { $0[mutation.key, default: []].insert(mutation.id).inserted }
        let isLatest = stamps.withLock { $0[mutation.key] } == mutation.id.hashValue
        if !isFirst, !isLatest { mutation.id = UUID().uuidString.lowercased() }
        if isFirst { stamps.withLock { $0[mutation.key] = mutation.id.hashValue } }
      }
    case .reusedIDApplies:
      request.change { mutation in
        let others = seen.withLock { seen in
          seen[RemoteKey("", mutation.id), default: []].insert("\(mutation)")
          return seen[RemoteKey("", mutation.id), default: []].count
        }
        if others > 1 { mutation.id = UUID().uuidString.lowercased() }
      }
    case .keysInOneCase: request.change { $0.key.key = $0.key.key.lowercased() }
    case .limitTruncates:
      let most = try await facts().maximumMutationCount
      if request.mutations.count > most {
        request.mutations.removeLast(request.mutations.count - most)
        _ = try await server.push(request)
        throw RemoteError.tooLarge("\(most) mutations at most")
      }
    case .numberBeforeCommit, .cursorByTime: return try await pushWithStamp(request)
    case .batchLies: return try await pushAndRollBack(request)
    default: break
    }
    var results = try await server.push(request)
    switch breach {
    case .batchStops:
      guard let failure = results.firstIndex(where: { !$0.isAccepted }) else { break }
      return try await pushUp(to: failure, request, results)
    case .resultsInOtherOrder: results.reverse()
    case .staleConflict:
      results = results.map { result in
        guard case .conflict(let version?) = result, version.document != nil else { return result }
        return .conflict(RemoteVersion(revision: "r0", document: version.document))
      }
    case .deletedTwiceConflicts:
      for (index, mutation) in request.mutations.enumerated() where mutation.document == nil {
        let name = RemoteKey(mutation.key.collection, mutation.key.key)
        let isFirst = seen.withLock { seen in
          defer { seen[name, default: []].insert(mutation.id) }
          return seen[name, default: []].isSubset(of: [mutation.id])
        }
        if !isFirst { results[index] = .conflict(nil) }
      }
    case .revisionOfContent:
      for (index, mutation) in request.mutations.enumerated() {
        guard results[index].isAccepted, let document = mutation.document else { continue }
        results[index] = .accepted(revision: "of \(document.json.hashValue)")
      }
    default: break
    }
    return results
  }

  /// Takes a number, and commits; once only when somebody has read what has a later number.
  private func pushWithStamp(_ request: PushRequest) async throws -> [PushResult] {
    let stamp = nextStamp.withLock { next in
      next += 1
      return breach == .cursorByTime ? next / 4 + 1 : next
    }
    // Several documents come at once first where others write and read meanwhile.
    if breach == .numberBeforeCommit, request.mutations.count > 1, isFirstToPutOff() {
      while lastRead.withLock({ $0 <= stamp }) { try await Task.sleep(for: .milliseconds(1)) }
    }
    let results = try await server.push(request)
    stamps.withLock { stamps in
      for (mutation, result) in zip(request.mutations, results) where result.isAccepted {
        stamps[mutation.key] = stamp
      }
    }
    return results
  }

  private func isFirstToPutOff() -> Bool {
    hasPutOff.withLock { hasPutOff in
      defer { hasPutOff = true }
      return !hasPutOff
    }
  }

  /// All in one transaction, which a failure takes back: what is behind the last one is kept.
  private func pushAndRollBack(_ request: PushRequest) async throws -> [PushResult] {
    let results = try await server.copy().push(request)
    let last = results.lastIndex { !$0.isAccepted }
    var kept = request
    kept.mutations.removeFirst(last.map { $0 + 1 } ?? 0)
    let keptResults = try await server.push(kept)
    return results.prefix(last.map { $0 + 1 } ?? 0) + keptResults
  }

  /// Deletes again what was stored behind a failure, as if it had never been.
  private func pushUp(
    to failure: Int, _ request: PushRequest, _ results: [PushResult]
  ) async throws -> [PushResult] {
    for (mutation, result) in zip(request.mutations, results).dropFirst(failure)
    where result.isAccepted {
      server.remove(mutation.key)
    }
    return results
  }
}

extension PushRequest {
  fileprivate mutating func change(_ body: (inout Mutation) -> Void) {
    for index in mutations.indices { body(&mutations[index]) }
  }
}

extension PushResult {
  fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
