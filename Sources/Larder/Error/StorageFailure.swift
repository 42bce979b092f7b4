internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A failure of LMDB, the file system or the operating system, in ``StoreError/storage(_:)``.
public struct StorageFailure: Error, Equatable, Sendable {
  /// The kinds of failure that an app can tell apart.
  public enum Code: Equatable, Sendable {
    /// The map of the file is full, and could not grow.
    case mapFull
    /// As many reads run as ``StoreOptions/maximumReaderCount`` allows.
    case readersFull
    /// The store has as many collections and indexes as ``StoreOptions/maximumDatabaseCount`` allows.
    case databasesFull
    /// One transaction changes more pages than LMDB can remember.
    case transactionFull
    /// The disk failed while a commit was written.
    case panic
    /// The file is none of LMDB's.
    case invalidFile
    /// Another version of LMDB wrote the file.
    case versionMismatch
    /// Another process enlarged the map while this one was reading.
    case mapResized
    /// An earlier failure ended the transaction.
    case badTransaction
    /// A key or a value is too long for LMDB.
    case badValueSize
    /// A key is there already.
    case keyExists
    /// A failure of the operating system, by its `errno`.
    case system(errno: Int32)
    /// An error code of LMDB that has no name here.
    case other(Int32)
    /// The program is linked with another version of LMDB than 0.9.
    case libraryVersion
    /// A file in the folder is a link, a pipe or somebody else's.
    case unsafeFile
    /// A forked child uses the store that its parent opened.
    case usedAfterFork
    /// The store, or the snapshot, is in use elsewhere.
    case inUse
    /// The lock file was replaced while the store was open.
    case lockFileReplaced
    /// The lock file holds what LMDB cannot have written.
    case lockTableDamaged
    /// There is no store in the folder.
    case missing
    /// A process of another container that has the same process id has the store open.
    case processIDTaken
  }

  /// The kind of failure.
  public let code: Code
  /// The call that failed, such as `mdb_txn_begin`.
  public let operation: String
  /// The file or folder concerned, where one is known.
  public let path: String?
  /// What went wrong, without the advice that ``description`` has.
  public let message: String
  /// What happened and what to do next, in one or two sentences.
  public let description: String

  init(_ code: Code, _ error: LMDBError) {
    self.code = code
    operation = error.operation
    path = error.path
    message = error.detail
    description = error.description
  }
}

extension StorageFailure: CustomStringConvertible, LocalizedError {
  public var errorDescription: String? { description }
}

extension StorageFailure.Code {
  /// The code for apps; nil where ``StoreError`` has a case of its own for it.
  init?(_ code: LMDBError.Code) {
    switch code {
    case .mapFull: self = .mapFull
    case .readersFull: self = .readersFull
    case .databasesFull: self = .databasesFull
    case .transactionFull: self = .transactionFull
    case .panic: self = .panic
    case .invalidFile: self = .invalidFile
    case .versionMismatch: self = .versionMismatch
    case .mapResized: self = .mapResized
    case .badTransaction: self = .badTransaction
    case .badValueSize: self = .badValueSize
    case .keyExists: self = .keyExists
    case .system(let number): self = .system(errno: number)
    case .other(let number): self = .other(number)
    case .libraryVersion: self = .libraryVersion
    case .unsafeFile: self = .unsafeFile
    case .usedAfterFork: self = .usedAfterFork
    case .inUse: self = .inUse
    case .lockFileReplaced: self = .lockFileReplaced
    case .lockTableDamaged: self = .lockTableDamaged
    case .missing: self = .missing
    case .processIDTaken: self = .processIDTaken
    case .cancelled: self = .system(errno: SystemErrors.cancelled)
    case .corrupted, .pageNotFound, .optionsDiffer, .closed, .nestedWrite, .readOnly,
      .unfinishedQuarantine, .busy, .openingElsewhere, .suspended:
      return nil
    }
  }
}

/// Another process that has what this one waits for.
public struct CompetingProcess: Hashable, Sendable {
  /// Its process id.
  public let processID: Int32
  /// Whether it is stopped, as by SIGSTOP or a debugger, and will not go on by itself.
  public let isStopped: Bool

  /// Makes one, to compare with in a test.
  public init(processID: Int32, isStopped: Bool) {
    self.processID = processID
    self.isStopped = isStopped
  }

  init(_ holder: WriteHolder) {
    self.init(processID: holder.processID, isStopped: holder.isStopped)
  }
}

extension CompetingProcess: CustomStringConvertible {
  public var description: String {
    "process \(processID)" + (isStopped ? ", which is stopped" : "")
  }
}
