#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Answers that got lost: the same mutation comes again.
extension RemotePromise {
  static var repetitionPromises: [RemotePromise] {
    [
      RemotePromise("a mutation that comes again under its id is answered as before") { trial in
        let key = trial.newKey()
        let creation = trial.mutation(key, nil, trial.document(#"{"n":1}"#))
        let made = try trial.accepted(try await trial.push(trial.first, creation), "\(key)")
        try await trial.expectAgain(creation, made, by: trial.second, "a creation")
        let change = trial.mutation(key, made, trial.document(#"{"n":2}"#))
        let changed = try trial.accepted(try await trial.push(trial.first, change), "\(key)")
        try await trial.expectAgain(change, changed, by: trial.second, "a change")
        let deletion = trial.mutation(key, changed, nil)
        let deleted = try trial.accepted(try await trial.push(trial.first, deletion), "\(key)")
        try await trial.expectAgain(deletion, deleted, by: trial.second, "a deletion")
        return "a creation, a change and a deletion"
      },
      RemotePromise("that holds after later edits, too, and does not undo them") { trial in
        let cursor = try await trial.end()
        let key = trial.newKey()
        let creation = trial.mutation(key, nil, trial.document(#"{"n":1}"#))
        let made = try trial.accepted(try await trial.push(trial.first, creation), "\(key)")
        let later = trial.document(#"{"n":2}"#)
        let changed = try await trial.store(key, made, later, by: trial.second)

        try await trial.expectAgain(creation, made, by: trial.first, "a creation, edited since,")

        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, changed) }
        try trial.expect(copy, has: key, changed, later)
        let deleted = try await trial.store(key, changed, nil)
        try await trial.expectAgain(creation, made, by: trial.first, "a creation, deleted since,")
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, deleted) }
        guard copy.versions[key]?.document == nil else {
          throw BrokenPromise("\(key) was deleted, and its creation, sent again, brought it back")
        }
        return "after a change and a deletion"
      },
      RemotePromise("a mutation that arrives several times at one moment is done once") { trial in
        for _ in 0..<trial.roundCount {
          let sent = trial.mutation(trial.newKey(), nil, trial.document(#"{"n":1}"#))
          let results = try await withThrowingTaskGroup(of: PushResult.self) { group in
            for client in trial.clients {
              group.addTask { try await trial.push(client, sent) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
          }
          let revisions = Set(
            try results.map { try trial.accepted($0, "\(sent.key), sent again,") })
          guard revisions.count == 1 else {
            throw BrokenPromise("\(sent.key) was sent at once several times, and has \(revisions)")
          }
        }
        return "\(trial.roundCount) mutations, \(trial.clients.count) times each"
      },
      RemotePromise("an id that was used for another edit changes nothing") { trial in
        let cursor = try await trial.end()
        let key = trial.newKey()
        let creation = trial.mutation(key, nil, trial.document(#"{"n":1}"#))
        let made = try trial.accepted(try await trial.push(trial.first, creation), "\(key)")
        var other = trial.mutation(key, made, trial.document(#"{"n":2}"#))
        other.id = creation.id

        let result = try await trial.push(trial.first, other)

        guard case .rejected = result else {
          throw BrokenPromise("another edit under a used id came back as \(result.phrase)")
        }
        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, made) }
        try trial.expect(copy, has: key, made, trial.document(#"{"n":1}"#))
        return "1 edit"
      },
      RemotePromise("a revision is never used twice") { trial in
        let key = trial.newKey()
        var seen: Set<String> = []
        var revision: String?
        for round in 0..<max(trial.roundCount, 6) {
          // The same content each time, and now and then a deletion.
          let isDeletion = round % 3 == 2
          let base = round % 3 == 0 ? nil : revision
          revision = try await trial.store(
            key, base, isDeletion ? nil : trial.document(#"{"n":1}"#))
          guard let revision, seen.insert(revision).inserted else {
            throw BrokenPromise("\(key) has had revision \(revision ?? "") before")
          }
        }
        return "\(seen.count) versions"
      },
    ]
  }
}

extension RemoteTrial {
  fileprivate func expectAgain(
    _ mutation: Mutation, _ revision: String, by client: any Remote, _ what: String
  ) async throws {
    let result = try await push(client, mutation)
    guard result == .accepted(revision: revision) else {
      throw BrokenPromise(
        "\(what) that was accepted as \(revision) was sent again, and came back as \(result.phrase)"
      )
    }
  }
}
