/// Cursors and pages.
extension RemotePromise {
  static var pullPromises: [RemotePromise] {
    [
      RemotePromise("where nothing is new, a pull gives no changes and the same cursor") { trial in
        for _ in 0..<20 {
          let cursor = try await trial.end()
          let answers = [
            try await trial.page(
              trial.first, PullRequest(scope: trial.scope, cursor: cursor, limit: 10)),
            try await trial.page(
              trial.second, PullRequest(scope: trial.scope, cursor: cursor, limit: 1)),
          ]
          // Somebody else may be at work.
          guard answers.allSatisfy(\.changes.isEmpty) else { continue }
          for answer in answers where answer.cursor != cursor || answer.hasMore {
            throw BrokenPromise(
              "nothing is new behind \(cursor), and the answer has the cursor \(answer.cursor)"
                + (answer.hasMore ? " and more" : ""))
          }
          return "by two clients"
        }
        throw LeftOut(reason: "others write into the scope all the time")
      },
      RemotePromise("a cursor may be read from again, for an answer that got lost") { trial in
        let cursor = try await trial.end()
        let keys = (0..<5).map { _ in trial.newKey() }
        var revisions: [RemoteKey: String] = [:]
        for key in keys {
          revisions[key] = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        }
        var copies: [RemoteCopy] = []
        for client in [trial.first, trial.second, trial.first] {
          var copy = RemoteCopy()
          _ = try await trial.read(client, cursor, limit: 2, into: &copy) { copy in
            revisions.allSatisfy { copy.has($0.key, $0.value) }
          }
          // A remote may give documents of earlier trials again.
          copy.versions = copy.versions.filter { keys.contains($0.key) }
          copies.append(copy)
        }
        guard copies[0] == copies[1], copies[0] == copies[2], copies[0].versions.count == 5 else {
          throw BrokenPromise(
            "three readings from \(cursor) gave \(copies.map(\.versions.count)) documents of 5")
        }
        return "3 readings"
      },
      RemotePromise("pages of any size give the same") { trial in
        let keys = (0..<12).map { _ in trial.newKey() }
        let cursor = try await trial.end()
        var revisions: [RemoteKey: String] = [:]
        for key in keys {
          revisions[key] = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        }
        for limit in [1, 3, 12, trial.facts.maximumChangeCount] {
          var copy = RemoteCopy()
          _ = try await trial.read(nil, cursor, limit: limit, into: &copy) { copy in
            revisions.allSatisfy { copy.has($0.key, $0.value) }
          }
          for key in keys where copy.versions[key]?.revision != revisions[key] {
            throw BrokenPromise("pages of \(limit) leave out \(key)")
          }
        }
        return "pages of 1, 3, 12 and \(trial.facts.maximumChangeCount)"
      },
      RemotePromise("a document that goes to another scope leaves this one, and is not deleted") {
        trial in
        guard let other = trial.otherScope else { throw LeftOut(reason: "there is one scope only") }
        let (here, there) = (try await trial.end(), try await trial.end(in: other))
        let key = trial.newKey()
        let base = try await trial.store(key, nil, trial.document(#"{"n":1}"#))
        var copy = RemoteCopy()
        let cursor = try await trial.read(nil, here, into: &copy) { $0.has(key, base) }
        let moved = trial.document(#"{"n":2}"#)

        let revision = try await trial.store(key, base, moved, in: other)

        _ = try await trial.read(nil, cursor, into: &copy) { $0.left.contains(key) }
        guard copy.left.contains(key) else {
          throw BrokenPromise(
            "\(key) is in another scope, and the first one never says that it left")
        }
        var otherCopy = RemoteCopy()
        _ = try await trial.read(nil, there, in: other, into: &otherCopy) { $0.has(key, revision) }
        try trial.expect(otherCopy, has: key, revision, moved)
        var fresh = RemoteCopy()
        _ = try await trial.read(into: &fresh)
        if fresh.versions[key] != nil || fresh.left.contains(key) {
          throw BrokenPromise("a first load has \(key), which is in another scope")
        }
        let back = try await trial.store(key, revision, moved)
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, back) }
        try trial.expect(copy, has: key, back, moved)
        return "there and back"
      },
    ]
  }
}
