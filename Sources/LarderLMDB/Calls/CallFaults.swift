internal import CLarderLMDB

/// The calls that can fail and that tests watch, by their own names: those to LMDB, the one that makes
/// files themselves last, and the one that writes notes.
enum Call: String, CaseIterable, Sendable {
  case createEnvironment = "mdb_env_create"
  case setMapSize = "mdb_env_set_mapsize"
  case setMaximumDatabases = "mdb_env_set_maxdbs"
  case setMaximumReaders = "mdb_env_set_maxreaders"
  case openEnvironment = "mdb_env_open"
  case descriptor = "mdb_env_get_fd"
  case sync = "mdb_env_sync"
  case copy = "mdb_env_copyfd2"
  case checkReaders = "mdb_reader_check"
  case listReaders = "mdb_reader_list"
  case begin = "mdb_txn_begin"
  case renew = "mdb_txn_renew"
  case commit = "mdb_txn_commit"
  case openDatabase = "mdb_dbi_open"
  case statistics = "mdb_stat"
  case empty = "mdb_drop"
  case get = "mdb_get"
  case put = "mdb_put"
  case delete = "mdb_del"
  case openCursor = "mdb_cursor_open"
  case moveCursor = "mdb_cursor_get"
  case putCursor = "mdb_cursor_put"
  case deleteCursor = "mdb_cursor_del"
  /// On a folder, by its own path.
  case syncFolder = "fsync"
  /// A note in `larder.lock`, by the path of that file.
  case note = "pwrite"
}

// In a release build a call is made and nothing else. In a debug build a test can look at every
// call on one folder, do something just before it, or have it fail without being made.

extension Calls {
  /// Makes a call.
  ///
  /// - Parameter instead: What a call that fails does besides, and has to be done where it is only
  ///   said to have failed.
  @inline(__always)
  static func made(
    _ call: Call, in folder: @autoclosure () -> String, instead: () -> Void = {},
    _ body: () -> Int32
  ) -> Int32 {
    #if DEBUG
      if let fault = CallFaults.status(of: call, in: folder()) {
        instead()
        return fault
      }
    #endif
    return body()
  }

  /// Counts transactions and cursors that begin or end.
  @inline(__always)
  static func count(
    transactions: Int = 0, cursors: Int = 0, in folder: @autoclosure () -> String
  ) {
    #if DEBUG
      CallFaults.count(transactions: transactions, cursors: cursors, in: folder())
    #endif
  }

  static func folder(_ environment: OpaquePointer?) -> String {
    var path: UnsafePointer<CChar>?
    if let environment { mdb_env_get_path(environment, &path) }
    return path.map { String(cString: $0) } ?? ""
  }

  static func folder(transaction: OpaquePointer) -> String { folder(mdb_txn_env(transaction)) }

  static func folder(cursor: OpaquePointer) -> String {
    folder(mdb_cursor_txn(cursor).flatMap { mdb_txn_env($0) })
  }
}

#if DEBUG
  internal import Synchronization

  /// What a test has put between the package and LMDB for one folder.
  final class CallFaults: Sendable {
    struct Counts: Equatable {
      var transactions = 0
      var cursors = 0
    }

    private let decide: @Sendable (Call) -> Int32?
    private let live = Locked(Counts())

    private static let known = Locked<[String: CallFaults]>([:])
    /// For calls of a task on folders that nobody watches, such as those of stores that it makes and removes.
    @TaskLocal static var ofTask: CallFaults?
    /// Looked at by every call before anything else.
    private static let isUsed = Atomic<Bool>(false)

    private init(_ decide: @escaping @Sendable (Call) -> Int32?) { self.decide = decide }

    /// What is live of that which began since the folder is watched.
    var counts: Counts { live.withLock { $0 } }

    /// Asks `decide` before each call on the environment in `folder`, on the thread of the call:
    /// the status to fail with, or nil for the call to be made.
    static func watch(
      _ folder: String, _ decide: @escaping @Sendable (Call) -> Int32?
    ) -> CallFaults {
      let faults = CallFaults(decide)
      known.withLock { $0[folder] = faults }
      isUsed.store(true, ordering: .releasing)
      return faults
    }

    static func stopWatching(_ folder: String) {
      known.withLock { known in
        known[folder] = nil
        isUsed.store(!known.isEmpty, ordering: .releasing)
      }
    }

    static func status(of call: Call, in folder: @autoclosure () -> String) -> Int32? {
      guard isUsed.load(ordering: .acquiring) else { return nil }
      return faults(in: folder())?.decide(call)
    }

    private static func faults(in folder: String) -> CallFaults? {
      known.withLock { $0[folder] } ?? ofTask
    }

    static func count(transactions: Int, cursors: Int, in folder: @autoclosure () -> String) {
      guard isUsed.load(ordering: .acquiring) else { return }
      guard let faults = faults(in: folder()) else { return }
      faults.live.withLock { live in
        live.transactions += transactions
        live.cursors += cursors
      }
    }
  }
#endif
