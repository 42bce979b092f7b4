internal import Larder

#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

// What a remote no longer has.

extension SyncTables {
  /// Documents that are looked at in one transaction.
  private static let stepCount = 2000
  /// In place of the revision of what is gone without a tombstone.
  static let noRevision = "-"

  /// Forgets the documents of a scope that were not seen when it was loaded from its beginning, except for those
  /// that have edits. What was sent a moment ago may not show yet: the next pull decides about it.
  ///
  /// - Returns: Whether something is left for the next pull.
  func sweep(_ note: ScopeNote) throws -> Bool {
    var hasMissed = false
    let number = number(of: note.scope)
    try forEachStep(of: note) { base in
      base.scope == number && base.loading != note.loading
    } body: { name, found, tx in
      var gone: [[UInt8]] = []
      for (key, base) in found {
        if base.loading == SyncBase.unseen {
          hasMissed = true
          let missed = SyncBase(
            scope: number, loading: SyncBase.missed, revision: base.revision)
          try tx.setBase(name, key, to: missed.bytes)
        } else {
          gone.append(key)
        }
      }
      try forget(gone, of: name, note, &tx)
    }
    return hasMissed
  }

  /// The mark of a document that has left its scope.
  private static let leftMark: UInt8 = 1
  /// The same, from before all scopes were read once more.
  private static let leftBeforeMark: UInt8 = 2
  /// The mark of a document that has left its scope while its edit was under way: the answer decides.
  static let leftUnderWayMark: UInt8 = 3

  /// Notes that a document is in its scope no more. It stays until all scopes were read: it may be in another one.
  func noteLeft(
    _ base: SyncBase, _ name: String, _ key: [UInt8], _ tx: inout WriteScope
  ) throws {
    var base = base
    base.loading = SyncBase.left
    try tx.setBase(name, key, to: base.bytes)
    try tx.setMark(name, key, to: Self.leftMark)
  }

  /// Takes down which documents have left their scopes until now: those that come with no other scope, when all are read
  /// once more, are in none.
  ///
  /// - Returns: Whether there are any.
  func beginSweepLeft() throws -> Bool {
    try markLeftEarlier()
    var hasLeft = false
    try forEachMarked { base, mark in
      guard mark != Self.leftUnderWayMark else { return false }
      // It came with another scope, or was deleted.
      guard let base, base.hasLeft else { return true }
      // Else it is for the engine that follows its scope.
      guard scope(numbered: base.scope) != nil else { return false }
      hasLeft = true
      return mark == Self.leftMark
    } body: { name, found, tx in
      for (key, base) in found {
        try tx.setMark(name, key, to: base?.hasLeft == true ? Self.leftBeforeMark : nil)
      }
    }
    return hasLeft
  }

  /// Forgets what was taken down, and has come with no other scope. All were read since.
  func endSweepLeft() throws {
    try forEachMarked { base, mark in
      guard mark == Self.leftBeforeMark, let base, base.hasLeft else { return false }
      return scope(numbered: base.scope) != nil
    } body: { name, found, tx in
      guard let outline = tx.outline(of: name) else { return }
      var values: [Value] = []
      for (key, base) in found {
        try tx.setBase(name, key, to: nil)
        try tx.setMark(name, key, to: nil)
        if var entry = try tx.outboxEntry(name, key) {
          if entry.flight != nil || entry.hold != nil { continue }
          entry.holdAsLeft(base.flatMap { scope(numbered: $0.scope) } ?? "its scope")
          try tx.setOutboxEntry(name, key, to: entry)
        } else if let value = outline.value(key) {
          values.append(value)
        }
      }
      try tx.delete(keys: values, in: store.collection(name))
    }
  }

  static let leftEarlierName = "left"

  /// Marks what had left its scope in a store that was written before there were marks. It had a note that there is
  /// something among all documents.
  private func markLeftEarlier() throws {
    guard try store.read({ try $0.syncNote(Self.leftEarlierName) }) != nil else { return }
    try forEachStep(of: nil) {
      $0.hasLeft
    } body: { name, found, tx in
      for (key, _) in found { try tx.setMark(name, key, to: Self.leftMark) }
    }
    try write { try $0.setSyncNote(Self.leftEarlierName, to: nil) }
  }

  /// Forgets what was sent and has shown neither in a whole loading nor in the pull behind it.
  func sweepMissed(_ note: ScopeNote) throws {
    let number = number(of: note.scope)
    try forEachStep(of: note) { base in
      base.scope == number && base.loading == SyncBase.missed
    } body: { name, found, tx in
      try forget(found.map(\.key), of: name, note, &tx)
    }
  }

  /// - Parameter note: Of the scope that is read; nil for none.
  private func forEachStep(
    of note: ScopeNote?, where matches: (SyncBase) -> Bool,
    body: (String, [(key: [UInt8], base: SyncBase)], inout WriteScope) throws -> Void
  ) throws {
    for name in collections.keys.sorted() {
      var last: [UInt8]?
      var isAtEnd = false
      while !isAtEnd {
        var found: [(key: [UInt8], base: SyncBase)] = []
        var visitedCount = 0
        try store.read { snapshot in
          try snapshot.forEachBase(name, after: last) { key, bytes in
            last = key
            visitedCount += 1
            if let base = SyncBase(bytes), matches(base) {
              found.append((key, base))
            }
            return visitedCount < Self.stepCount
          }
        }
        isAtEnd = visitedCount < Self.stepCount
        if found.isEmpty { continue }
        try writeStep(at: note) { tx in
          // Another engine may have seen or sent one of them meanwhile.
          let found = try found.filter { try SyncBase(tx.base(name, $0.key)) == $0.base }
          try body(name, found, &tx)
        }
      }
    }
  }

  /// Passes marked documents on that match, in transactions of some thousand. Costs what is marked.
  private func forEachMarked(
    where matches: (SyncBase?, UInt8) -> Bool,
    body: (String, [(key: [UInt8], base: SyncBase?)], inout WriteScope) throws -> Void
  ) throws {
    for name in collections.keys.sorted() {
      var last: [UInt8]?
      var isAtEnd = false
      while !isAtEnd {
        var found: [(key: [UInt8], base: SyncBase?, mark: UInt8)] = []
        var visitedCount = 0
        try store.read { snapshot in
          try snapshot.forEachMark(name, after: last) { key, mark in
            last = key
            visitedCount += 1
            let base = SyncBase(try snapshot.base(name, key))
            if matches(base, mark) { found.append((key, base, mark)) }
            return visitedCount < Self.stepCount
          }
        }
        isAtEnd = visitedCount < Self.stepCount
        if found.isEmpty { continue }
        try write { tx in
          let same = try found.filter {
            try SyncBase(tx.base(name, $0.key)) == $0.base && tx.mark(name, $0.key) == $0.mark
          }
          try body(name, same.map { ($0.key, $0.base) }, &tx)
        }
      }
    }
  }

  private func writeStep(
    at note: ScopeNote?, _ body: (inout WriteScope) throws -> Void
  ) throws {
    if let note { try write(at: note, body) } else { try write(body) }
  }

  private func forget(
    _ keys: [[UInt8]], of name: String, _ note: ScopeNote, _ tx: inout WriteScope
  ) throws {
    guard let outline = tx.outline(of: name) else { return }
    let number = number(of: note.scope)
    var values: [Value] = []
    for key in keys {
      #if LARDER_MUTANTS
        if Mutant.sweptEdits.isOn, let value = outline.value(key) {
          try tx.setOutboxEntry(name, key, to: nil)
          try tx.setBase(name, key, to: nil)
          values.append(value)
          continue
        }
      #endif
      if var entry = try tx.outboxEntry(name, key) {
        let newer = SyncBase(entry.newer?.base)
        // Came with another scope, whose loadings have numbers of their own. It stays as it is.
        let isElsewhere = newer.map { $0.scope != number } ?? false
        // Seen, and kept for when the edit under way is answered, or the conflict settled.
        if !isElsewhere, newer?.loading == note.loading { continue }
        if !isElsewhere, entry.flight != nil || entry.hold?.code == "" {
          let gone = SyncBase(
            scope: number, loading: note.loading, revision: Self.noRevision)
          entry.newer = OutboxEntry.Version(base: gone.bytes, record: nil)
          try tx.setOutboxEntry(name, key, to: entry)
          continue
        }
        // Edited here, and gone there, or in another scope: the remote says which when the edit is sent.
        if entry.forgetNewer(of: number) {
          try tx.setOutboxEntry(name, key, to: entry)
        }
      } else if scopes.count > 1, let base = SyncBase(try tx.base(name, key)) {
        try noteLeft(base, name, key, &tx)
        continue
      } else if let value = outline.value(key) {
        values.append(value)
      }
      try tx.setBase(name, key, to: nil)
    }
    try tx.delete(keys: values, in: store.collection(name))
  }
}
