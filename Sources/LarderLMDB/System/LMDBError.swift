#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What went wrong in LMDB, or what this layer refused before LMDB could be harmed.
public struct LMDBError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kinds of failure a caller can tell apart.
  public enum Code: Equatable, Sendable {
    // LMDB's own.
    case mapFull, readersFull, databasesFull, transactionFull, corrupted, pageNotFound, panic
    case invalidFile, versionMismatch, mapResized, badTransaction, badValueSize, keyExists
    /// A failure of the operating system, by its `errno`.
    case system(errno: Int32)
    /// A code of LMDB that has no name here.
    case other(Int32)

    // Ours.
    case libraryVersion, unsafeFile, usedAfterFork, closed, inUse
    /// This process has the store open with other options; their names.
    case optionsDiffer([String])
    case lockFileReplaced, lockTableDamaged, nestedWrite, readOnly, missing, unfinishedQuarantine
    /// Another process with the same process id has the store open, in a container of its own.
    case processIDTaken
    /// Another process writes, and the time to wait for it is over.
    case busy(by: WriteHolder?)
    /// Whoever was to write does not want to any more.
    case cancelled
    /// The store gave back its locks, and is to be resumed first.
    case suspended
    /// Another process opens the store, and the time to wait for it is over.
    case openingElsewhere(by: WriteHolder?)
  }

  /// The kind of failure.
  public let code: Code
  /// The call that failed, such as `mdb_txn_begin`.
  public let operation: String
  /// The file or folder concerned, where one is known.
  public let path: String?
  /// LMDB's own text for the failure, or ours.
  public let detail: String

  /// Makes an error; tests and the layers above build them to stand in for a real failure.
  public init(_ code: Code, operation: String, path: String? = nil, detail: String) {
    self.code = code
    self.operation = operation
    self.path = path
    self.detail = detail
  }

  /// What happened and what to do next, in one or two plain sentences.
  public var description: String {
    let place = path.map { " on \($0)" } ?? ""
    let advice = code.advice.map { " \($0)" } ?? ""
    return "\(operation)\(place): \(detail).\(advice)"
  }
}

extension LMDBError.Code {
  /// What to do next; nil where the detail already says it.
  var advice: String? {
    switch self {
    case .mapFull:
      "Nothing of this transaction is kept; delete records or open with a larger mapByteCount."
    case .readersFull:
      "End read transactions sooner, or open the store with a larger maximumReaderCount, which counts "
        + "where no other process has the store open."
    case .databasesFull:
      "Open the store with a larger maximumDatabaseCount."
    case .transactionFull:
      "Nothing of this transaction is kept; split it into smaller ones."
    case .panic:
      "The disk failed while a commit was written, of which nothing is kept. End what still reads the "
        + "store and try again."
    case .corrupted, .pageNotFound:
      "Close the store in every process, set the file aside, and restore a backup or rebuild it."
    case .invalidFile, .versionMismatch:
      "Open it with the program that wrote it, export it there, and import it here."
    case .mapResized:
      "Another process enlarged the store; end this process's transactions and try again."
    case .badTransaction:
      "An earlier failure ended this transaction; end it and begin a new one."
    case .badValueSize:
      "Shorten it and try again."
    case .keyExists:
      "Append keys in ascending order, or put without appending."
    case .system(let number): Self.advice(errno: number)
    case .libraryVersion: "Link this program with LMDB 0.9."
    case .unsafeFile: "Nothing was touched."
    case .optionsDiffer:
      "Open it with the same options, or close the store that is open first."
    case .usedAfterFork: "Open the store again in the child process."
    case .closed: "Open the store again."
    case .busy: "Nothing was written; try again, or have that process end its write."
    case .suspended: "Resume it, and try again."
    case .openingElsewhere: "Nothing was changed; try again, or end that process."
    case .inUse: "End its transactions and close it where it should not be open; then try again."
    case .lockFileReplaced, .lockTableDamaged:
      "Nothing was written; close the store in every process and open it again."
    case .processIDTaken:
      "Have the containers that share the store count processes together (`--pid`), or open it in one "
        + "of them only."
    case .unfinishedQuarantine:
      "Run the quarantine again, which goes on, or restore a backup."
    case .nestedWrite:
      "End the transaction that this thread holds first."
    case .readOnly: "Open the store for writing."
    case .missing, .other, .cancelled: nil
    }
  }

  private static func advice(errno number: Int32) -> String? {
    if number == SystemCall.noSpace {
      return "Nothing of this transaction is kept; free some disk space and try again."
    }
    return SystemCall.advice[number]
  }
}

extension LMDBError: LocalizedError {
  public var errorDescription: String? { description }
}
