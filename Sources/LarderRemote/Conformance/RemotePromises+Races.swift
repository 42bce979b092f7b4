/// Writers at the same moment.
extension RemotePromise {
  static var racePromises: [RemotePromise] {
    [
      RemotePromise("of writes at the same moment on one revision, one is accepted") { trial in
        for _ in 0..<trial.roundCount {
          let key = trial.newKey()
          let base = try await trial.store(key, nil, trial.document(#"{"n":0}"#))
          try await trial.race(on: key, base)
        }
        return "\(trial.roundCount) races of \(trial.clients.count)"
      },
      RemotePromise("of documents that are created at the same moment under one key, one is accepted") {
        trial in
        for _ in 0..<trial.roundCount { try await trial.race(on: trial.newKey(), nil) }
        return "\(trial.roundCount) races of \(trial.clients.count)"
      },
      RemotePromise("a change that is committed shows behind every cursor that was given out before") {
        trial in
        try await trial.writeWhileReading()
      },
      RemotePromise("pages stay true while documents change between them") { trial in
        let count = 40
        var revisions: [RemoteKey: String] = [:]
        let start = try await trial.end()
        let keys = (0..<count).map { _ in trial.newKey() }
        for key in keys {
          revisions[key] = try await trial.store(key, nil, trial.document(#"{"n":0}"#))
        }
        var copy = RemoteCopy()
        var cursor = start
        for _ in 0..<200 {
          let answer = try await trial.page(
            trial.second,
            PullRequest(scope: trial.scope, cursor: cursor, limit: trial.number(1...5)))
          cursor = answer.cursor
          copy.take(answer.changes.filter { trial.isOurs($0.key) })
          if !answer.hasMore, keys.allSatisfy({ copy.versions[$0] != nil }) { break }
          let key = keys[trial.number(0...count - 1)]
          let isDeletion = trial.number(0...3) == 0
          guard let base = revisions[key] else { continue }
          revisions[key] = try await trial.store(
            key, base, isDeletion ? nil : trial.document(#"{"n":1}"#))
          // What is deleted stays so.
          if isDeletion { revisions[key] = nil }
        }
        _ = try await trial.read(nil, cursor, into: &copy) { copy in
          revisions.allSatisfy { copy.has($0.key, $0.value) }
        }
        for key in keys {
          let (found, expected) = (copy.versions[key], revisions[key])
          let isSame = expected == nil ? found?.document == nil : found?.revision == expected
          if isSame { continue }
          throw BrokenPromise(
            "\(key) should be \(expected ?? "deleted") after all pages, and is "
              + (found.map { $0.document == nil ? "deleted" : $0.revision } ?? "missing"))
        }
        return "\(count) documents in pages of 1 to 5"
      },
    ]
  }
}

extension RemoteTrial {
  /// All clients write at once; one may win, and it is what all read.
  fileprivate func race(on key: RemoteKey, _ base: String?) async throws {
    let results = try await withThrowingTaskGroup(of: PushResult.self) { group in
      for (number, client) in clients.enumerated() {
        let sent = mutation(key, base, document(#"{"by":\#(number)}"#))
        group.addTask { try await push(client, sent) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let winners = try results.filter { if case .accepted = $0 { true } else { false } }
      .map { try accepted($0, "\(key)") }
    guard winners.count == 1 else {
      throw BrokenPromise(
        "\(winners.count) of \(clients.count) writes of \(key) on \(base ?? "nothing") were accepted")
    }
    for result in results {
      switch result {
      case .accepted: continue
      case .conflict(let version?) where version.revision == winners[0]: continue
      default:
        throw BrokenPromise(
          "a write of \(key) lost to \(winners[0]), and came back as \(result.phrase)")
      }
    }
  }

  /// Half of the clients write, and the others remember how far they have read.
  fileprivate func writeWhileReading() async throws -> String {
    let start = try await end()
    let writing = RemoteWriting()
    let documentCount = 10 * roundCount
    try await withThrowingTaskGroup(of: Void.self) { group in
      // At least two of each: only commits that overtake each other leave a gap.
      for number in 0..<max(clients.count, 4) {
        let client = clients[number % clients.count]
        let keys = (0..<documentCount).map { _ in newKey() }
        group.addTask {
          defer { writing.end() }
          for key in keys {
            // Now and then several at once, which take longer to commit than one does.
            let more = self.number(0...3) == 0 ? (0..<10).map { _ in newKey() } : []
            let mutations = ([key] + more).map { mutation($0, nil, document(#"{"n":1}"#)) }
            let results = try await push(client, mutations)
            for (mutation, result) in zip(mutations, results) {
              writing.note(mutation.key, try accepted(result, "\(mutation.key)"))
            }
          }
        }
        writing.begin()
      }
      for client in clients.prefix(2) {
        group.addTask {
          var copy = RemoteCopy()
          var cursor = start
          while writing.isGoing {
            cursor = try await read(client, cursor, limit: self.number(1...50), into: &copy)
            await Task.yield()
          }
          _ = try await read(client, cursor, into: &copy) { copy in
            writing.written.allSatisfy { copy.has($0.key, $0.value) }
          }
          let missing = writing.written.filter { !copy.has($0.key, $0.value) }
          guard let one = missing.keys.min() else { return }
          throw BrokenPromise(
            "\(missing.count) of \(writing.written.count) documents never came to a client that read "
              + "while they were written, \(one) for one")
        }
      }
      try await group.waitForAll()
    }
    return "\(writing.written.count) documents by \(max(clients.count, 4)) writers at once"
  }
}
