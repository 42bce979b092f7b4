internal import LarderRemote

extension InMemoryTables {
  /// How far somebody has read, and where they began from nothing: deletions before that need no telling.
  private struct Cursor {
    var place: Int
    var since: Int
  }

  /// - Throws: `RemoteError.cursorExpired`, and `malformed` for what is no cursor.
  func pull(_ request: PullRequest) throws -> PullAnswer {
    var cursor = try cursor(request.cursor, in: request.scope)
    let feed = feeds[request.scope] ?? []
    var index = feed.partitioningIndex { $0.place > cursor.place }
    var changes: [RemoteChange] = []
    while index < feed.count {
      let entry = feed[index]
      if let change = change(entry, in: request.scope, since: cursor.since) {
        if changes.count == request.limit { break }
        changes.append(change)
        cursor.place = entry.place
      }
      index += 1
    }
    return PullAnswer(
      changes: changes, cursor: "\(generation).\(cursor.place).\(cursor.since)",
      hasMore: index < feed.count)
  }

  private func change(_ entry: Entry, in scope: String, since: Int) -> RemoteChange? {
    guard isCurrent(entry, in: scope) else { return nil }
    if let revision = entry.departure {
      return entry.place > since ? RemoteChange(entry.key, revision: revision, .left) : nil
    }
    guard let row = rows[entry.key] else { return nil }
    if let document = row.document {
      return RemoteChange(entry.key, revision: row.revision, .document(document))
    }
    return entry.place > since ? RemoteChange(entry.key, revision: row.revision, .deleted) : nil
  }

  private func cursor(_ text: String?, in scope: String) throws -> Cursor {
    // Changes before this moment are told, deletions are not.
    guard let text else { return Cursor(place: 0, since: place) }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 3, let asked = parts[0], let place = parts[1], let since = parts[2] else {
      throw RemoteError.malformed("the cursor is none of this server")
    }
    guard asked == generation else { throw RemoteError.cursorExpired }
    if let horizon = horizons[scope], horizon > since, horizon > place {
      throw RemoteError.cursorExpired
    }
    return Cursor(place: place, since: since)
  }

  /// What becomes of a mutation of a user.
  mutating func apply(
    _ mutation: Mutation, to scope: String, of user: String, _ access: InMemoryAccess?
  ) -> PushResult {
    if let reason = refusal(mutation) { return .rejected(code: "malformed", reason: reason) }
    let name = NoteName(user: user, id: mutation.id)
    if let note = notes[name] {
      guard note.scope == scope, note.mutation == mutation else {
        return .rejected(code: "reused", reason: "the id was used for another edit")
      }
      return .accepted(revision: note.revision)
    }
    let current = rows[mutation.key]
    let isVisible = current.map { access?.readable.contains($0.scope) ?? true } ?? true
    if let current, isVisible, !(access?.writable.contains(current.scope) ?? true) {
      return .rejected(
        code: "forbidden", reason: "this user may not write into the scope of this document")
    }
    let revision: String
    if mutation.document == nil, !isVisible || current?.document == nil {
      revision = isVisible ? current?.revision ?? newRevision() : newRevision()
    } else if !isVisible {
      guard mutation.base == nil else { return .conflict(nil) }
      return .rejected(
        code: "taken", reason: "a document of a scope that this user may not read has this key")
    } else if mutation.base == nil && mutation.document != nil
      ? current?.document == nil : current != nil && current?.revision == mutation.base
    {
      revision = store(mutation.key, mutation.document, in: scope)
    } else {
      return .conflict(
        current.map { RemoteVersion(revision: $0.revision, document: $0.document) })
    }
    notes[name] = Note(scope: scope, mutation: mutation, revision: revision)
    return .accepted(revision: revision)
  }

  private func refusal(_ mutation: Mutation) -> String? {
    guard mutation.id.utf8.count == 36 else { return "a mutation has an id, which is a UUID" }
    guard (1...200).contains(mutation.key.collection.utf8.count),
      (1...1000).contains(mutation.key.key.utf8.count)
    else { return "a mutation names a collection of 1 to 200 bytes and a key of 1 to 1000" }
    return mutation.document?.fault
  }
}

extension Array {
  /// The first index whose element satisfies a condition that holds for all behind it.
  fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
