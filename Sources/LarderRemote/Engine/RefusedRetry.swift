internal import Larder

/// One attempt to save documents that could not be saved before.
struct RefusedRetry {
  /// A document that could not be saved, as it is noted.
  struct Refused {
    let name: String
    let bytes: [UInt8]
    let scope: ScopeNote
    /// As errors of the store name it.
    let key: RemoteKey
    let change: RemoteChange
  }

  private let tables: SyncTables
  /// Those that are to be tried.
  var line: [Refused] = []
  /// Those that have failed as another document has their value, by that document.
  private var waiting: [RemoteKey: [Refused]] = [:]
  private var failures: [(refused: Refused, error: any Error)] = []

  init(tables: SyncTables) { self.tables = tables }

  /// So many are tried in one transaction: others wait to write meanwhile.
  private static let pieceCount = 256
  /// So often those that have values of each other are tried, each time without one that keeps the others.
  private static let mostAttempts = 64

  /// - Parameter isTogether: Whether all are tried in one transaction first.
  mutating func run(isTogether: Bool) throws {
    if line.isEmpty { return }
    if isTogether, line.count > 1, try save(line) == nil { return }
    while !line.isEmpty {
      let piece = line.prefix(Self.pieceCount)
      line.removeFirst(piece.count)
      try saveEach(piece)
    }
    try saveCircles()
    try noteFailures()
  }

  /// Saves each by itself, in one transaction; whoever waits for one that was saved is tried again.
  private mutating func saveEach(_ piece: ArraySlice<Refused>) throws {
    let errors = try tables.write { tx in
      try piece.map { refused in
        do {
          try tx.undoable { tx in try save([refused], &tx) }
          return nil as (any Error)?
        } catch let error where SyncTables.isRefusal(error) {
          return error
        }
      }
    }
    for (refused, error) in zip(piece, errors) {
      guard let error else {
        line += waiting.removeValue(forKey: refused.key) ?? []
        continue
      }
      failures.append((refused, error))
      if case .uniqueViolation(let name, _, _, _, let other)? = error as? StoreError {
        waiting[RemoteKey(name, other), default: []].append(refused)
      }
    }
  }

  /// Saves those together that have values of each other, such as two that were swapped.
  private func saveCircles() throws {
    var refused: [RemoteKey: Refused] = [:]
    var circles = CircularWaits<RemoteKey>()
    for (blocker, waiters) in waiting {
      for waiter in waiters {
        refused[waiter.key] = waiter
        circles.add(waiter.key, waitingFor: blocker)
      }
    }
    for _ in 0..<Self.mostAttempts {
      let groups = circles.takeGroups()
      if groups.isEmpty { return }
      for group in groups {
        let documents = group.compactMap { refused[$0] }.sorted { $0.name < $1.name }
        guard
          case .uniqueViolation(let name, _, _, let key, let other)? =
            try save(documents) as? StoreError
        else { continue }
        // One of them waits for another one as well.
        circles.put(back: group, as: RemoteKey(name, key), waitsFor: RemoteKey(name, other))
      }
    }
  }

  /// Saves them in one transaction.
  ///
  /// - Returns: Why one of them cannot be saved, and so none is; nil where all are.
  private func save(_ refused: [Refused]) throws -> (any Error)? {
    do {
      try tables.write { try save(refused, &$0) }
      return nil
    } catch let error where SyncTables.isRefusal(error) {
      return error
    }
  }

  private func save(_ refused: [Refused], _ tx: inout WriteScope) throws {
    guard let first = refused.first else { return }
    var page = PulledPage(tables, first.scope)
    for one in refused {
      // Another engine may have saved it since, or a later version.
      guard try tx.syncNote(one.name) == one.bytes else { continue }
      page.note = one.scope
      let count = page.refusedCount
      try page.add(one.change, &tx)
      // The page notes it again where it cannot be read.
      if page.refusedCount == count { try tx.setSyncNote(one.name, to: nil) }
    }
    try page.save(&tx)
  }

  /// Notes why some could still not be saved, where that is another reason than before.
  private func noteFailures() throws {
    var last: [String: (refused: Refused, note: RefusedNote, error: any Error)] = [:]
    for (refused, error) in failures {
      guard let note = RefusedNote(noted: refused.bytes) else { continue }
      last[refused.name] = note.reason == "\(error)" ? nil : (refused, note, error)
    }
    if last.isEmpty { return }
    try tables.write { tx in
      for (refused, note, error) in last.values
      where try tx.syncNote(refused.name) == refused.bytes {
        try tables.noteRefused(refused.change, note.scope, error, &tx)
      }
    }
  }
}
