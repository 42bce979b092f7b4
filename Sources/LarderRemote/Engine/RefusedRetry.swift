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
  /// Those that have failed as another document has their value.
  private var waiting: [RemoteKey: Refused] = [:]
  private var waits = CircularWaits<RemoteKey>()
  private var failures: [(refused: Refused, error: any Error)] = []

  init(tables: SyncTables) { self.tables = tables }

  /// So many are tried in one transaction: others wait to write meanwhile.
  private static let pieceCount = 256
  /// So many circles of documents that have values of each other may fail.
  private static let mostFailures = 64

  /// - Parameter isTogether: Whether all are tried in one transaction first.
  mutating func run(isTogether: Bool) throws {
    if line.isEmpty { return }
    if isTogether, line.count > 1, try save(line) == nil { return }
    try saveLine()
    try saveCircles()
    try noteFailures()
  }

  private mutating func saveLine() throws {
    while !line.isEmpty {
      let piece = line.prefix(Self.pieceCount)
      line.removeFirst(piece.count)
      try saveEach(piece)
    }
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
        goOn(behind: refused.key)
        continue
      }
      failures.append((refused, error))
      if case .uniqueViolation(let name, _, _, _, let other)? = error as? StoreError {
        waiting[refused.key] = refused
        waits.add(refused.key, waitingFor: RemoteKey(name, other))
      }
    }
  }

  /// Has those tried again that have waited for a document that was saved.
  private mutating func goOn(behind key: RemoteKey) {
    line += waits.release(by: key).compactMap { waiting.removeValue(forKey: $0) }
  }

  /// Saves those together that have values of each other, such as two that were swapped, and then those that have waited
  /// for them.
  private mutating func saveCircles() throws {
    var failureCount = 0
    while failureCount < Self.mostFailures {
      let circles = waits.circles()
      if circles.isEmpty { return }
      for circle in circles {
        if let error = try save(circle.compactMap { waiting[$0] }) {
          failureCount += 1
          giveUp(circle, error)
        } else {
          for key in circle {
            waits.remove(key)
            waiting[key] = nil
          }
          for key in circle { goOn(behind: key) }
        }
      }
      try saveLine()
    }
  }

  /// Notes why a circle cannot be saved: one of its documents waits for another one, too, or wants what another one of
  /// them gets.
  private mutating func giveUp(_ circle: [RemoteKey], _ error: any Error) {
    guard case .uniqueViolation(let name, _, _, let key, let other)? = error as? StoreError,
      case let (key, blocker) = (RemoteKey(name, key), RemoteKey(name, other)),
      circle.contains(key)
    else { return circle.forEach { waits.remove($0) } }
    if circle.contains(blocker) || !waits.add(key, waitingFor: blocker) { waits.remove(key) }
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
