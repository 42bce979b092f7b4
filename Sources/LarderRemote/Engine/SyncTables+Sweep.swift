internal import Larder

#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

// What a remote no longer has.

extension SyncTables {
  /// Documents that are looked at in one transaction.
  private static let stepCount = 2000
  /// In place of the revision of what is gone without a tombstone. None that a remote gives is empty.
  static let noRevision = ""

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
          try tx.setSyncBase(name, key, to: missed)
        } else {
          gone.append(key)
        }
      }
      try forget(gone, of: name, note, &tx)
    }
    return hasMissed
  }

  /// Why a document is in its scope no more, and whether all scopes were read since it was noted.
  fileprivate enum Mark {
    /// The remote has said that it left, perhaps to another scope that is read here; or an answer has told of it, and
    /// no pull yet.
    static let left: UInt8 = 1
    static let leftBefore: UInt8 = 2
    /// It was edited here, and not seen when the scope was loaded from its beginning: it was deleted, or has left.
    static let absent: UInt8 = 3
    static let absentBefore: UInt8 = 4
  }

  /// Notes that a document is in its scope no more. It stays until all scopes were read: it may be in another one.
  ///
  /// - Parameter isTold: Whether the remote has said so.
  func noteLeft(
    _ base: SyncBase, _ name: String, _ key: [UInt8], isTold: Bool = true, _ tx: inout WriteScope
  ) throws {
    var base = base
    base.loading = SyncBase.left
    try tx.setSyncBase(name, key, to: base)
    try tx.setMark(name, key, to: isTold ? Mark.left : Mark.absent)
  }

  /// Takes down which documents have left their scopes until now: those that come with no other scope, when all are read
  /// once more, are in none. One whose edit is under way waits for the answer.
  ///
  /// - Returns: Whether there are any.
  func beginSweepLeft() throws -> Bool {
    try markLeftEarlier()
    var hasLeft = false
    try forEachMarked { found in
      // It came with another scope, or was deleted.
      guard let base = found.base, base.hasLeft else { return true }
      // Else it is for the engine that follows its scope.
      guard scope(numbered: base.scope) != nil, !found.isUnderWay else { return false }
      hasLeft = true
      return found.mark == Mark.left || found.mark == Mark.absent
    } body: { name, found, tx in
      for one in found {
        let next = one.mark == Mark.left ? Mark.leftBefore : Mark.absentBefore
        try tx.setMark(name, one.key, to: one.base?.hasLeft == true ? next : nil)
      }
    }
    return hasLeft
  }

  /// Forgets what was taken down, and has come with no other scope. All were read since. Edits of such documents are set
  /// aside where the remote has said that they left; else they are sent, and the answer tells what has become of them.
  func endSweepLeft() throws {
    try forEachMarked { found in
      guard found.mark == Mark.leftBefore || found.mark == Mark.absentBefore,
        let base = found.base, base.hasLeft, !found.isUnderWay
      else { return false }
      return scope(numbered: base.scope) != nil
    } body: { name, found, tx in
      guard let outline = tx.outline(of: name) else { return }
      var values: [Value] = []
      for one in found {
        try tx.setMark(name, one.key, to: nil)
        if let base = one.base, var entry = try tx.outboxEntry(name, one.key) {
          let isTold = one.mark == Mark.leftBefore
          // Else the base says that the document has left, for when the edit is answered.
          if isTold || entry.isConflict { try tx.setSyncBase(name, one.key, to: nil) }
          if isTold, !entry.isConflict, entry.newer == nil {
            // Also one that was set aside for another reason: whoever puts that right would take it back unawares.
            entry.holdAsLeft(scope(numbered: base.scope) ?? "its scope")
          } else if !isTold, entry.isConflict, SyncBase(entry.newer?.base)?.scope == base.scope {
            let gone = SyncBase(
              scope: base.scope, loading: SyncBase.left, revision: Self.noRevision)
            entry.newer = OutboxEntry.Version(base: gone.bytes, record: nil)
          }
          try tx.setOutboxEntry(name, one.key, to: entry)
        } else {
          try tx.setSyncBase(name, one.key, to: nil)
          if let value = outline.value(one.key) { values.append(value) }
        }
      }
      try tx.delete(keys: values, in: store.collection(name))
    }
  }

  /// Whether a document has left its scope, and may be in another one that was not read since.
  func isMoving(_ name: String, _ key: [UInt8], _ tx: borrowing WriteScope) throws -> Bool {
    guard SyncBase(try tx.base(name, key))?.hasLeft == true else { return false }
    return try tx.mark(name, key) != nil
  }

  /// Whether there are edits that wait because their documents may have moved. Those of scopes that this engine does not
  /// follow wait for another one.
  func hasMovingEdits() throws -> Bool {
    try store.read { snapshot in
      var isFound = false
      for name in collections.keys {
        try snapshot.forEachMark(name, after: nil) { key, _ in
          guard let base = SyncBase(try snapshot.base(name, key)), base.hasLeft,
            scope(numbered: base.scope) != nil
          else { return true }
          isFound = try snapshot.outboxEntry(name, key).map { $0.hold == nil } ?? false
          return !isFound
        }
        if isFound { return true }
      }
      return false
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
      for (key, _) in found { try tx.setMark(name, key, to: Mark.left) }
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

  private struct Marked {
    let key: [UInt8]
    let base: SyncBase?
    let mark: UInt8
    /// Whether its edit was sent, and is not answered yet.
    let isUnderWay: Bool
  }

  /// Passes marked documents on that match, in transactions of some thousand. Costs what is marked.
  private func forEachMarked(
    where matches: (Marked) -> Bool, body: (String, [Marked], inout WriteScope) throws -> Void
  ) throws {
    for name in collections.keys.sorted() {
      var last: [UInt8]?
      var isAtEnd = false
      while !isAtEnd {
        var found: [Marked] = []
        var visitedCount = 0
        try store.read { snapshot in
          try snapshot.forEachMark(name, after: last) { key, mark in
            last = key
            visitedCount += 1
            let marked = Marked(
              key: key, base: SyncBase(try snapshot.base(name, key)), mark: mark,
              isUnderWay: try snapshot.outboxEntry(name, key)?.flight != nil)
            if matches(marked) { found.append(marked) }
            return visitedCount < Self.stepCount
          }
        }
        isAtEnd = visitedCount < Self.stepCount
        if found.isEmpty { continue }
        try write { tx in
          let same = try found.filter {
            try SyncBase(tx.base(name, $0.key)) == $0.base && tx.mark(name, $0.key) == $0.mark
              && (tx.outboxEntry(name, $0.key)?.flight != nil) == $0.isUnderWay
          }
          try body(name, same, &tx)
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
          try tx.setSyncBase(name, key, to: nil)
          values.append(value)
          continue
        }
      #endif
      if var entry = try tx.outboxEntry(name, key) {
        let newer = SyncBase(entry.newer?.base)
        // Came with another scope, whose loadings have numbers of their own. It stays as it is.
        let isElsewhere = newer.map { $0.scope != number } ?? false
        if !isElsewhere {
          // Seen, and kept for when the edit under way is answered, or the conflict settled.
          if newer?.loading == note.loading { continue }
          if entry.leaveNewer(of: number) { try tx.setOutboxEntry(name, key, to: entry) }
          if let base = SyncBase(try tx.base(name, key)), !base.hasLeft {
            try noteLeft(base, name, key, isTold: false, &tx)
          }
          continue
        }
      } else if let base = SyncBase(try tx.base(name, key)), scopes.count > 1 || base.hasLeft {
        if !base.hasLeft { try noteLeft(base, name, key, &tx) }
        continue
      } else if let value = outline.value(key) {
        values.append(value)
      }
      try tx.setSyncBase(name, key, to: nil)
    }
    try tx.delete(keys: values, in: store.collection(name))
  }
}

extension WriteScope {
  /// Notes what the remote has of a document; nil forgets it. One that has left its scope is marked, so that it is found
  /// among all.
  ///
  /// - Parameter isTold: Whether the remote has said that there is such a document, in another scope; or else what was
  ///   known of that stays.
  mutating func setSyncBase(
    _ name: String, _ key: [UInt8], to base: SyncBase?, isTold: Bool = true
  ) throws {
    try setBase(name, key, to: base?.bytes)
    guard base?.hasLeft == true else { return }
    let isAbsent = try mark(name, key).map { $0 >= SyncTables.Mark.absent } ?? false
    try setMark(name, key, to: isAbsent && !isTold ? SyncTables.Mark.absent : SyncTables.Mark.left)
  }
}
