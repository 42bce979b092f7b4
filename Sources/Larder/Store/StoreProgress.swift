/// How far a long operation has come: a copy, a check, the building of an index, a migration, a
/// salvage, an import or an export.
///
/// ```swift
/// try await store.compact { progress in
///   print(progress.phase, progress.completed, "of", progress.total ?? 0)
/// }
/// ```
/// Every operation that takes a `progress` closure calls it now and then, on the thread that does the
/// work; of several that share it, on the caller's. There are two ways to stop one:
/// - Cancel its task. This works for the asynchronous form, and for a synchronous call inside a task.
/// - Throw from the closure. This is for a synchronous call outside of tasks: a command that hears
///   Control-C, a thread with a flag, an `Operation`. Throw a `CancellationError`, or an error of your
///   own; the operation throws it on.
public struct StoreProgress: Sendable, Equatable {
  /// A part of an operation, and what is counted in it.
  public enum Phase: Sendable, Equatable {
    /// Documents are read and compared with their checksums; counted in documents.
    case checking
    /// A copy of the store is written; counted in bytes. The total is an estimate.
    case copying
    /// An index is built; counted in its entries. The total is the number of documents, which is
    /// another one for an index of elements and for a partial one.
    case indexing
    /// Documents are looked at as the closure of a migration will leave them, before the first is changed: what kinds
    /// their fields get depends on all of them. Counted in documents.
    case examining
    /// Documents are brought to another version; counted in documents, and told after each batch is
    /// durable.
    case migrating
    /// A damaged file is read, twice; counted in pages. Fewer are read where some cannot be.
    case salvaging
    /// Documents that have expired are deleted; counted in documents.
    case evicting
    /// A pipe is copied to a temporary file; counted in bytes.
    case receiving
    /// A file is read for the first time, and every document in it checked; counted in bytes.
    case reading
    /// A file is read again, and its documents are saved; counted in bytes.
    case saving
    /// Documents are written to a file; counted in documents.
    case exporting
  }

  /// What is being done.
  public var phase: Phase
  /// How much of ``total`` is done, counted as the phase says.
  public var completed: Int
  /// How much there is to do in this phase; nil where only the end will tell.
  public var total: Int?
  /// How much of the whole operation is done, all phases together, from 0 to 1; nil where only the end
  /// will tell.
  public var fraction: Double?
  /// Documents that are done with, and durable where they are saved; nil where they are not counted.
  public var documentCount: Int?
  /// What the work is about, where the call does not say it: the name of the index or of the
  /// collection, or the path of the folder that a damaged file is in.
  public var subject: String?

  /// Progress of an operation; `fraction` is that of the phase where none is given.
  public init(
    _ phase: Phase, completed: Int, total: Int?, fraction: Double? = nil,
    documentCount: Int? = nil, subject: String? = nil
  ) {
    self.phase = phase
    self.completed = completed
    self.total = total
    self.fraction =
      fraction
      ?? total.map { $0 <= 0 ? 1 : min(1, max(0, Double(completed) / Double($0))) }
    self.documentCount = documentCount
    self.subject = subject
  }

  /// Tells `progress`, unless the task was cancelled.
  ///
  /// - Throws: `CancellationError`; what `progress` throws.
  package func tell(_ progress: (StoreProgress) throws -> Void) throws {
    try Task.checkCancellation()
    try progress(self)
  }
}

/// Carries what ends an operation out of calls that only ask whether to go on.
struct Ending {
  private(set) var reason: any Error = CancellationError()

  /// Whether to go on; false where `body` throws.
  mutating func goesOn(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      reason = error
      return false
    }
  }
}
