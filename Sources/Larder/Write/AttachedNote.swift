internal import LarderLMDB

/// A note that goes into the transaction of a save whose caller does not know of it: of the first one
/// of the task, of the origin `.sync`, that changes documents of the store. Both are kept, or none. A save
/// takes along all notes that are attached to it.
package final class AttachedNote: Sendable {
  @TaskLocal private static var current: [AttachedNote] = []

  private let engine: Engine
  fileprivate let name: String
  fileprivate let bytes: [UInt8]
  fileprivate let kept = Locked(false)

  /// - Parameters:
  ///   - name: 1 to 200 bytes of UTF-8.
  ///   - bytes: At most 256.
  package init(_ name: String, _ bytes: [UInt8], in store: Store) {
    engine = store.engine
    self.name = name
    self.bytes = bytes
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

  /// What a write of the current task has to take along. To be asked on the caller's side: bodies run
  /// where no task is current.
  static func rider(_ origin: ChangeOrigin, _ engine: Engine) -> NoteRider? {
    guard origin == .sync else { return nil }
    let notes = current.filter { $0.engine === engine && !$0.isKept }
    return notes.isEmpty ? nil : NoteRider(notes)
  }
}

/// Notes that ride with one write.
final class NoteRider: Sendable {
  private let notes: [AttachedNote]
  /// Whether the body, as it was run last, has changed documents, so that the note is with them.
  private let isWritten = Locked(false)

  fileprivate init(_ notes: [AttachedNote]) { self.notes = notes }

  fileprivate func put(into scope: inout WriteScope, after changeCount: UInt64) throws {
    let hasChanged = scope.changeCount > changeCount
    if hasChanged { for note in notes { try scope.setNote(note.name, to: note.bytes) } }
    isWritten.withLock { $0 = hasChanged }
  }

  /// The transaction of the write was committed.
  func arrived() {
    guard isWritten.withLock({ $0 }) else { return }
    for note in notes { note.kept.withLock { $0 = true } }
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
