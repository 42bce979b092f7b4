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
      RemotePromise(
        "of documents that are created at the same moment under one key, one is accepted"
      ) {
        trial in
        for _ in 0..<trial.roundCount { try await trial.race(on: trial.newKey(), nil) }
        return "\(trial.roundCount) races of \(trial.clients.count)"
      },
      RemotePromise(
        "a change that is committed shows behind every cursor that was given out before"
      ) {
        trial in
        try await trial.writeWhileReading()
      },
      RemotePromise("pages stay true while documents change between them") { trial in
        let count = 40
        try await trial.readWhileChanging(count)
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
        "\(winners.count) of \(clients.count) writes of \(key) on \(base ?? "nothing") were accepted"
      )
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

  /// One client reads on, and another one from the beginning, while documents change and go.
  fileprivate func readWhileChanging(_ count: Int) async throws {
    var revisions: [RemoteKey: String] = [:]
    var cursors: [String?] = [try await end(), nil]
    let keys = (0..<count).map { _ in newKey() }
    for key in keys { revisions[key] = try await store(key, nil, document(#"{"n":0}"#)) }
    var copies = [RemoteCopy(), RemoteCopy()]
    for _ in 0..<count {
      for index in copies.indices {
        let answer = try await page(
          second, PullRequest(scope: scope, cursor: cursors[index], limit: number(1...5)))
        cursors[index] = answer.cursor
        copies[index].take(answer.changes.filter { isOurs($0.key) })
      }
      // What a first load has read goes: what is behind it must not move up unseen.
      let isOlder = { (entry: (key: RemoteKey, value: RemoteVersion)) in
        entry.value.document != nil && revisions[entry.key] == nil
      }
      if let (old, version) = copies[1].versions.first(where: isOlder) {
        try await store(old, version.revision, nil)
        copies[1].versions[old] = RemoteVersion(revision: version.revision, document: nil)
      }
      let key = keys[number(0...count - 1)]
      guard let base = revisions[key] else { continue }
      let isDeletion = number(0...3) == 0
      let revision = try await store(key, base, isDeletion ? nil : document(#"{"n":1}"#))
      revisions[key] = isDeletion ? nil : revision
    }
    for index in copies.indices {
      _ = try await read(nil, cursors[index], into: &copies[index]) { copy in
        keys.allSatisfy { copy.versions[$0]?.document == nil || revisions[$0] != nil }
          && revisions.allSatisfy { copy.has($0.key, $0.value) }
      }
    }
    var fresh = RemoteCopy()
    _ = try await read(into: &fresh)
    for copy in copies {
      for key in keys where revisions[key] == nil && copy.versions[key]?.document != nil {
        throw BrokenPromise("\(key) was deleted between two pages, and stays")
      }
      for (key, revision) in revisions where !copy.has(key, revision) {
        throw BrokenPromise(
          "\(key) should be \(revision) after all pages, and is "
            + (copy.versions[key]?.revision ?? "missing"))
      }
    }
    for (key, version) in fresh.versions where version.document != nil {
      guard copies[1].versions[key] != nil else {
        throw BrokenPromise("\(key) did not change while a first load ran, and is missing from it")
      }
    }
  }

  /// Half of the clients write, and the others remember how far they have read.
  fileprivate func writeWhileReading() async throws -> String {
    let start = try await end()
    let writing = RemoteWriting()
    let documentCount = 5 * roundCount
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
            cursor = try await read(client, cursor, limit: self.number(10...200), into: &copy)
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
