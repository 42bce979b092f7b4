/// Why there is no room for a change; see ``StoreError/full(_:)``.
public struct Shortage: Equatable, Sendable {
  /// What is too small.
  public enum Limit: Sendable, Equatable {
    /// ``StoreOptions/quotaByteCount``, or what the map leaves where there is none.
    case quota
    /// The address space that is reserved for the file, ``StoreOptions/mapByteCount``.
    case map
    /// The disk.
    case disk
    /// The size that the system allows files of this process.
    case fileSize
  }

  /// The store's folder.
  public let path: String
  /// Which limit was reached.
  public let limit: Limit
  /// Bytes that the store takes: of the pages that hold something, as the quota counts them, or of
  /// its file.
  public let usedByteCount: Int
  /// Bytes that are left below the limit; nil where that is not known.
  public let freeByteCount: Int?
  /// Bytes by which the change would have made the store larger; nil where that is not known.
  public let neededByteCount: Int?
  /// Bytes of them that the change log takes; nil where that is not known.
  public internal(set) var logByteCount: Int?
  /// The named consumer that keeps the log from becoming smaller; nil where there is none.
  public internal(set) var waitingConsumer: String?
  /// How many edits of synced collections wait to be sent, those of the refused change included: each takes room. Nil
  /// where that is not known.
  public internal(set) var unsentCount: Int?

  /// Makes one; tests build them to stand in for a real one.
  public init(
    path: String, limit: Limit, usedByteCount: Int, freeByteCount: Int?, neededByteCount: Int?,
    logByteCount: Int? = nil, waitingConsumer: String? = nil, unsentCount: Int? = nil
  ) {
    self.path = path
    self.limit = limit
    self.usedByteCount = usedByteCount
    self.freeByteCount = freeByteCount
    self.neededByteCount = neededByteCount
    self.logByteCount = logByteCount
    self.waitingConsumer = waitingConsumer
    self.unsentCount = unsentCount
  }
}

extension Shortage: CustomStringConvertible {
  /// What is used, free and needed, and what to do.
  public var description: String {
    let free = freeByteCount.map { ", \($0) are free" } ?? ""
    let needed = neededByteCount.map { ", and the change needs \($0) more" } ?? ""
    return "\(subject) is full: the store uses \(usedByteCount) bytes\(free)\(needed). "
      + "Nothing of the change is kept. \(advice)\(logAdvice)\(unsentAdvice)"
  }

  private var unsentAdvice: String {
    guard let unsentCount, unsentCount > 0 else { return "" }
    return
      " Edits that wait to be sent (\(unsentCount)) take room, deletions among them: sync, which gives it back."
  }

  /// Named where it takes a good part of the store.
  private var logAdvice: String {
    guard let logByteCount, logByteCount >= usedByteCount / 8, logByteCount > 0 else { return "" }
    guard let waitingConsumer else {
      return " The change log takes \(logByteCount) bytes; deleting documents makes it smaller too."
    }
    return
      " The change log takes \(logByteCount) bytes, as the consumer `\(waitingConsumer)` has not "
      + "acknowledged its changes: let it go on, or forget it with `removeConsumer`."
  }

  private var subject: String {
    switch limit {
    case .quota: "The store at \(path)"
    case .map: "The map of the store at \(path)"
    case .disk: "The disk of the store at \(path)"
    case .fileSize: "The largest file that this process may write, of the store at \(path),"
    }
  }

  private var advice: String {
    switch limit {
    case .quota:
      "Delete documents, which makes most room where their keys are "
        + "neighbours; let the oldest go by themselves (`ageing`); drop indexes that you can do without (`dropIndex`); or open the store with a "
        + "larger `quotaByteCount` or `mapByteCount`."
    case .map:
      "End long reads, delete documents, drop indexes that you can do without (`dropIndex`), or open "
        + "the store with a larger `mapByteCount`, or with a `quotaByteCount` that lets it grow."
    case .disk:
      "Free some space on the disk, or delete documents; then try again."
    case .fileSize: "Raise the limit, or delete documents; then try again."
    }
  }
}
