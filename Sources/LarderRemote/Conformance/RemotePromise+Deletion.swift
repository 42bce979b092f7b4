/// Tombstones.
extension RemotePromise {
  static var deletionPromises: [RemotePromise] {
    [
      RemotePromise("a deletion shows behind every cursor that was given out before") { trial in
        let start = try await trial.end()
        let keys = (0..<4).map { _ in trial.newKey() }
        var revisions: [RemoteKey: String] = [:]
        for key in keys {
          revisions[key] = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        }
        var copy = RemoteCopy()
        let cursor = try await trial.read(nil, start, into: &copy) { copy in
          revisions.allSatisfy { copy.has($0.key, $0.value) }
        }
        for key in keys { revisions[key] = try await trial.store(key, revisions[key], nil) }

        for from in [cursor, start] {
          var copy = copy
          _ = try await trial.read(nil, from, limit: 3, into: &copy) { copy in
            revisions.allSatisfy { copy.has($0.key, $0.value) }
          }
          for key in keys where copy.versions[key]?.document != nil {
            throw BrokenPromise("\(key) was deleted, and a client that knew it never hears of it")
          }
        }
        return "\(keys.count) deletions, from two cursors"
      },
      RemotePromise("a first load has no tombstones of earlier deletions") { trial in
        let start = try await trial.end()
        let key = trial.newKey()
        let base = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        let revision = try await trial.store(key, base, nil)
        var copy = RemoteCopy()
        _ = try await trial.read(nil, start, into: &copy) { $0.has(key, revision) }
        for _ in 0..<20 {
          var fresh = RemoteCopy()
          _ = try await trial.read(into: &fresh)
          if fresh.versions[key] == nil { return "1 deletion" }
        }
        throw BrokenPromise("\(key) was deleted before a first load began, and comes with it")
      },
      RemotePromise("what was deleted can be deleted again, and created again") { trial in
        let cursor = try await trial.end()
        let key = trial.newKey()
        let base = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        let deleted = try await trial.store(key, base, nil)
        for again in [base, deleted] {
          let result = try await trial.push(trial.second, trial.mutation(key, again, nil))
          _ = try trial.accepted(result, "a deletion of \(key), which is deleted,")
        }
        let document = trial.document(#"{"n":2}"#)
        let made = try await trial.store(key, nil, document, by: trial.second)
        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, made) }
        try trial.expect(copy, has: key, made, document)
        return "with two bases"
      },
      RemotePromise("a conflict has what stands there: a document, or its deletion") { trial in
        let key = trial.newKey()
        let document = trial.document(#"{"n":2}"#)
        let base = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        let changed = try await trial.store(key, base, document)
        for stale in [trial.mutation(key, base, nil), trial.mutation(key, base, document)] {
          let result = try await trial.push(trial.second, stale)
          guard case .conflict(let version?) = result, version.revision == changed,
            version.document?.isSame(as: document) == true
          else {
            throw BrokenPromise(
              "an edit of an old version of \(key), which is \(changed), came back as "
                + result.phrase)
          }
        }
        let deleted = try await trial.store(key, changed, nil)
        let result = try await trial.push(
          trial.second, trial.mutation(key, changed, document))
        guard result == .conflict(RemoteVersion(revision: deleted, document: nil)) else {
          throw BrokenPromise("an edit of \(key), which is deleted, came back as \(result.phrase)")
        }
        return "an old version, a deletion"
      },
    ]
  }
}
