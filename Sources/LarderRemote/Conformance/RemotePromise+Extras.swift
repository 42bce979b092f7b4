/// What only some remotes have, and a server that starts again.
extension RemotePromise {
  static var extraPromises: [RemotePromise] {
    [
      RemotePromise("a count and a manifest say what a first load gives") { trial in
        guard trial.facts.hasCount || trial.facts.hasManifest else {
          throw LeftOut(reason: "the remote has neither")
        }
        for _ in 0..<5 {
          _ = try await trial.store(trial.newKey(), nil, trial.document(#"{"n":1}"#))
        }
        var faults: [String] = []
        for _ in 0..<40 {
          let before = try await trial.end()
          let (loaded, end) = try await trial.load()
          faults = try await trial.compare(loaded)
          // What others do meanwhile shows in all of them at different moments.
          if faults.isEmpty, end == before { return "\(loaded.count) documents" }
          try await Task.sleep(for: .milliseconds(20))
        }
        guard let fault = faults.first else { throw LeftOut(reason: "others write all the time") }
        throw BrokenPromise(fault)
      },
      RemotePromise("hints tell of each scope at the beginning, and of what is pushed") { trial in
        guard let hints = trial.second.hints([trial.scope]) else {
          throw LeftOut(reason: "the remote has none")
        }
        var iterator = hints.makeAsyncIterator()
        guard try await iterator.next() == trial.scope else {
          throw BrokenPromise("the stream ended before its first hint")
        }
        _ = try await trial.store(trial.newKey(), nil, trial.document(#"{"n":1}"#))
        guard try await iterator.next() == trial.scope else {
          throw BrokenPromise("the stream ended before it told of a push")
        }
        return "1 push"
      },
      RemotePromise("a server that starts again has lost nothing that it accepted") { trial in
        guard let restart = trial.restart else {
          throw LeftOut(reason: "nobody can restart it here")
        }
        let cursor = try await trial.end()
        let document = trial.document(#"{"n":1}"#)
        let mutations = (0..<10).map { _ in trial.mutation(trial.newKey(), nil, document) }
        let results = try await trial.push(trial.first, mutations)

        try await restart()

        let again = try await trial.push(trial.second, mutations)
        guard again == results else {
          throw BrokenPromise(
            "mutations that were accepted before a restart are answered otherwise")
        }
        var copy = RemoteCopy()
        do {
          _ = try await trial.read(nil, cursor, into: &copy) { $0.versions.count >= 10 }
        } catch RemoteError.cursorExpired {
          _ = try await trial.read(nil, nil, into: &copy) { $0.versions.count >= 10 }
        }
        for (mutation, result) in zip(mutations, results) {
          let revision = try trial.accepted(result, "\(mutation.key)")
          try trial.expect(copy, has: mutation.key, revision, document)
        }
        return "10 documents"
      },
    ]
  }
}

extension RemoteTrial {
  /// All documents of the scope, whoever made them, and the cursor behind them.
  fileprivate func load() async throws -> (documents: [RemoteKey: String], cursor: String) {
    var documents: [RemoteKey: String] = [:]
    var cursor: String?
    while true {
      let answer = try await page(
        second, PullRequest(scope: scope, cursor: cursor, limit: facts.maximumChangeCount))
      for change in answer.changes {
        if case .document = change.content {
          documents[change.key] = change.revision
        } else {
          documents[change.key] = nil
        }
      }
      cursor = answer.cursor
      if !answer.hasMore { return (documents, answer.cursor) }
    }
  }

  /// How count and manifest differ from what was loaded.
  fileprivate func compare(_ loaded: [RemoteKey: String]) async throws -> [String] {
    var faults: [String] = []
    if facts.hasCount, let count = try await first.count(scope), count != loaded.count {
      faults.append("a first load has \(loaded.count) documents, and the count is \(count)")
    }
    guard facts.hasManifest else { return faults }
    var listed: [RemoteKey: String] = [:]
    var after: RemoteKey?
    while true {
      let answer = try await first.manifest(
        ManifestRequest(scope: scope, after: after, limit: 3 + loaded.count / 20))
      for entry in answer.entries { listed[entry.key] = entry.revision }
      guard answer.hasMore, let last = answer.entries.last?.key else { break }
      if let after, !(after < last) {
        return faults + ["the manifest does not go on behind \(after)"]
      }
      after = last
      if listed.count > 2 * loaded.count + 100 { break }
    }
    if listed != loaded {
      faults.append(
        "a first load has \(loaded.count) documents, and the manifest has \(listed.count), of which "
          + "\(listed.filter { loaded[$0.key] == $0.value }.count) agree")
    }
    return faults
  }
}
