internal import LarderLMDB

/// A note that goes into the transaction of a save whose caller does not know of it: the first one of
/// the task, of the origin `.sync`, that changes documents of the store. Both are kept, or none.
package final class AttachedNote: Sendable {
  @TaskLocal private static var current: AttachedNote?

  private struct State {
    /// Whether the transaction that is running, or has just run, changes documents and has the note.
    var isWritten = false
    var isKept = false
  }

  private let engine: Engine
  private let name: String
  private let bytes: [UInt8]
  private let state = Locked(State())

  /// - Parameters:
  ///   - name: 1 to 200 bytes of UTF-8.
  ///   - bytes: At most 256.
  package init(_ name: String, _ bytes: [UInt8], in store: Store) {
    engine = store.engine
    self.name = name
    self.bytes = bytes
  }

  /// Whether a transaction that has the note was committed.
  package var isKept: Bool { state.withLock { $0.isKept } }

  /// Runs `body`, whose save takes the note along.
  ///
  /// - Throws: What `body` throws.
  package func attached<Result>(
    to body: () async throws -> Result
  ) async rethrows -> Result {
    try await Self.$current.withValue(self, operation: body)
  }

  /// The note that a write of the current task has to take along. To be asked on the caller's side:
  /// bodies run where no task is current.
  static func due(_ origin: ChangeOrigin, _ engine: Engine) -> AttachedNote? {
    guard origin == .sync, let note = current, note.engine === engine, !note.isKept else {
      return nil
    }
    return note
  }

  /// Writes the note if the body before it has changed documents. A body may be run several times.
  fileprivate func put(
    into scope: inout WriteScope, after changeCount: UInt64
  ) throws {
    let hasChanged = scope.changeCount > changeCount
    if hasChanged { try scope.setNote(name, to: bytes) }
    state.withLock { $0.isWritten = hasChanged }
  }

  /// The transaction was committed.
  func committed() { state.withLock { $0.isKept = $0.isWritten } }
}

extension WriteScope {
  /// Runs `body`, whose changes come from `origin`, and writes a note after it if it has changed
  /// documents.
  mutating func writing<Result>(
    as origin: ChangeOrigin, with note: AttachedNote?,
    _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    let changeCount = changeCount
    let result = try writing(as: origin, body)
    try note?.put(into: &self, after: changeCount)
    return result
  }
}
