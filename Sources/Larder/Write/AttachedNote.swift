internal import LarderLMDB

/// A note that goes into the transaction of a save whose caller does not know of it: of the first one
/// of the task, of the origin `.sync`, that changes documents of the store. Both are kept, or none. A save
/// takes along all notes that are attached to it.
package final class AttachedNote: Sendable {
  @TaskLocal private static var current: [AttachedNote] = []

  private let engine: Engine
  private let name: String
  private let bytes: [UInt8]
  private let isWanted: (@Sendable (_ stored: [UInt8]?) throws -> Bool)?
  fileprivate let kept = Locked(false)

  /// - Parameters:
  ///   - name: 1 to 200 bytes of UTF-8.
  ///   - bytes: At most 256.
  ///   - isWanted: Asked in the transaction of the save, with the note that the store has until then: whether
  ///     this one is to be written; nil for always. The save is undone with what it throws.
  package init(
    _ name: String, _ bytes: [UInt8], in store: Store,
    isWanted: (@Sendable (_ stored: [UInt8]?) throws -> Bool)? = nil
  ) {
    engine = store.engine
    self.name = name
    self.bytes = bytes
    self.isWanted = isWanted
  }

  /// Whether a transaction that has the note was committed.
  package var isKept: Bool { kept.withLock { $0 } }

  /// Runs `body`, whose save takes the note along.
  ///
  /// - Throws: What `body` throws.
  package func attached<Result>(
    to body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$current.withValue(Self.current + [self], operation: body)
  }

  /// Returns whether it was written.
  fileprivate func put(into scope: inout WriteScope) throws -> Bool {
    if let isWanted, try !isWanted(scope.note(name)) { return false }
    try scope.setNote(name, to: bytes)
    return true
  }

  /// What a write of the current task has to take along. To be asked on the caller's side: bodies run
  /// where no task is current.
  static func rider(_ origin: ChangeOrigin, _ engine: Engine) -> NoteRider? {
    guard origin == .sync else { return nil }
    let notes = current.filter { $0.engine === engine && !$0.isKept }
    let permit = SyncPermit.needed(by: origin)
    return notes.isEmpty && permit == nil ? nil : NoteRider(notes, permit)
  }
}

/// What is done in the transaction of a write that comes from a remote: notes are written, and a permit is asked
/// whether the write is still wanted.
final class NoteRider: Sendable {
  private let notes: [AttachedNote]
  private let permit: SyncPermit?
  /// Those that are with the documents which the body, as it was run last, has changed.
  private let written = Locked<[AttachedNote]>([])

  fileprivate init(_ notes: [AttachedNote], _ permit: SyncPermit?) {
    self.notes = notes
    self.permit = permit
  }

  fileprivate func put(into scope: inout WriteScope, after changeCount: UInt64) throws {
    try permit?.ask()
    var put: [AttachedNote] = []
    if scope.changeCount > changeCount {
      for note in notes where try note.put(into: &scope) { put.append(note) }
    }
    written.withLock { $0 = put }
  }

  /// The transaction of the write was committed.
  func arrived() {
    for note in written.withLock({ $0 }) { note.kept.withLock { $0 = true } }
  }
}

extension WriteScope {
  /// Runs `body`, whose changes come from `origin`, and writes a note after it if it has changed
  /// documents.
  mutating func writing<Result>(
    as origin: ChangeOrigin, with rider: NoteRider?,
    _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    let changeCount = changeCount
    let result = try writing(as: origin, body)
    try rider?.put(into: &self, after: changeCount)
    return result
  }
}
