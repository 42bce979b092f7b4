/// The size and the use of one environment.
public struct EnvironmentStatistics: Equatable, Sendable {
  /// Bytes of one page, the unit in which the file grows.
  public let pageByteCount: Int
  /// Bytes of address space that the file may grow into.
  public let mapByteCount: Int
  /// The number of the last page in use; pages count from zero.
  public let lastPageNumber: Int
  /// The id of the last committed transaction.
  public let lastTransactionID: Int
  /// Bytes of `data.mdb` as the file system counts them.
  public let fileByteCount: Int
  /// Pages inside the file that the next writes may use again.
  public let freePageCount: Int
  /// Reader slots taken by all processes, idle ones of the pools included.
  public let readersInUse: Int
  /// Reader slots that exist.
  public let maximumReaderCount: Int
}

/// A reader slot that is taken.
public struct EnvironmentReader: Hashable, Sendable {
  public let processID: Int32
  /// The thread that took the slot, as its process numbers threads; others may use it since.
  public let thread: UInt
  /// The commit that is read; nil for a slot whose snapshot has ended, and which is kept ready.
  public let transactionID: Int?

  /// Reads a line of LMDB's list; nil for its heading.
  init?(line: String) {
    let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard words.count == 3, let process = Int32(words[0]), let thread = UInt(words[1], radix: 16)
    else { return nil }
    (processID, self.thread, transactionID) = (process, thread, Int(words[2]))
  }
}

/// The size of one database.
public struct DatabaseStatistics: Equatable, Sendable {
  public let entryCount: Int
  /// Levels of its tree; zero when empty.
  public let depth: Int
  public let branchPageCount: Int
  public let leafPageCount: Int
  /// Pages that hold values too large for a leaf.
  public let overflowPageCount: Int
  public let pageByteCount: Int

  /// Bytes of all its pages.
  public var byteCount: Int {
    (branchPageCount + leafPageCount + overflowPageCount) * pageByteCount
  }
}
