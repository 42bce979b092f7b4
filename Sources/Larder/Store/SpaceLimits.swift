internal import LarderLMDB

/// How large a store may become, as it was opened.
struct SpaceLimits: Sendable {
  /// Bytes of pages that hold something; nil for what the map has room for.
  let askedQuota: Int?
  let askedReserve: Int

  /// A write of so many bytes has a transaction of its own: with others it could take more than what
  /// is kept for deleting.
  var largeByteCount: Int { max(64 << 10, askedReserve / 2) }

  init(_ options: StoreOptions) {
    askedQuota = options.quotaByteCount
    askedReserve = options.reserveByteCount
  }

  /// What is kept for deleting. Of a small map without a quota at most half.
  func reserve(inMapOf byteCount: Int) -> Int {
    #if LARDER_MUTANTS
      if Mutant.reserveOff.isOn { return 0 }
    #endif
    return askedQuota == nil ? min(askedReserve, byteCount / 2) : askedReserve
  }

  func quota(inMapOf byteCount: Int) -> Int {
    askedQuota ?? byteCount - reserve(inMapOf: byteCount)
  }

  /// What the map may grow to. Pages are copied before they are changed, and those that somebody
  /// still reads are not used again: the file needs more than what is in use at one moment.
  func largestMap(from byteCount: Int) -> Int {
    guard let askedQuota else { return byteCount }
    let (sum, overflow) = askedQuota.addingReportingOverflow(askedReserve + Self.slackByteCount)
    return max(byteCount, overflow || sum > .max / 4 ? byteCount : (2 * sum) & ~0xFFFF)
  }

  private static let slackByteCount = 1 << 20

  /// Below a quarter of so large a quota no transaction comes near it, and nothing is counted.
  static let hugeByteCount = 16 << 30
}

extension Engine {
  /// The quota and the reserve in bytes, as the map is now.
  func spaceLimits(
    in transaction: borrowing some Transaction & ~Copyable
  ) -> (quota: Int, reserve: Int) {
    let map = environment.mapByteCount(in: transaction)
    return (space.quota(inMapOf: map), space.reserve(inMapOf: map))
  }

  /// Reserves more address space for the file; false where it may not become larger, or where
  /// somebody reads on.
  func growMap(_ drainSeconds: Double?) -> Bool {
    do {
      let map = try environment.mapByteCount()
      let largest = space.largestMap(from: map)
      guard map < largest else { return false }
      let target = min(largest, max(map * 2, 1 << 20))
      try environment.grow(toMapByteCount: target, drainSeconds: drainSeconds)
      indexWork.withLock { $0.end() }
      log.tell(.info, "the map has grown", ["bytes": "\(target)"])
      return true
    } catch {
      // The write that needed it says that there is no room.
      return false
    }
  }

  /// What a failure lacks room in; nil for failures of another kind.
  func shortage(_ error: any Error) -> Shortage? {
    switch error {
    case StoreError.full(let shortage): return shortage
    case StoreError.storage(let failure): return shortage(failure.code)
    case let error as LMDBError: return StorageFailure.Code(error.code).flatMap { shortage($0) }
    default: return nil
    }
  }

  private func shortage(_ code: StorageFailure.Code) -> Shortage? {
    if let limit = Shortage.Limit(code) {
      return shortage(of: limit == .disk && isFileLimitNearer ? .fileSize : limit)
    }
    guard code == .system(errno: SystemErrors.inputOutput) else { return nil }
    // Some file systems write what fits and say nothing of the rest, which LMDB takes for this.
    if environment.isAtFileLimit(within: 64 << 10) { return shortage(of: .fileSize) }
    // What the failed commit has written is free again by now, or kept behind the file.
    let free = environment.freeDiskByteCount ?? .max
    return free < 1 << 20 ? shortage(of: .disk) : nil
  }

  /// Whether the file meets a limit on sizes where the disk has room yet: what is cut short there is called a lack of
  /// room on the disk.
  private var isFileLimitNearer: Bool {
    let reach = 64 << 20
    return environment.freeDiskByteCount ?? 0 > reach && environment.isAtFileLimit(within: reach)
  }

  /// Where the reserve of the disk is.
  enum DiskReserve {
    case behindFile, inFreePages, nowhere
    /// Apart from the file, until the transaction is committed.
    case held(HeldRoom)
  }

  /// - Parameter writtenByteCount: About as much as the transaction writes; nil where that cannot be told.
  func diskReserve(
    writtenByteCount: Int?, in transaction: borrowing some Transaction & ~Copyable
  ) throws -> DiskReserve {
    guard environment.options.durability != .volatile else { return .behindFile }
    let reserve = spaceLimits(in: transaction).reserve
    if reserve == 0 { return .behindFile }
    let isLarge = (writtenByteCount ?? .max) > reserve / 4
    let used = isLarge ? environment.usedByteCount(in: transaction) : 0
    // Pages that are changed are written elsewhere: at most all of them.
    if isLarge, let free = environment.freeDiskByteCount, free < used + reserve,
      !environment.isAtFileLimit(within: used + reserve),
      let room = environment.holdReserve(reserve)
    {
      return .held(room)
    }
    if try environment.keepReserve(reserve, behind: used, in: transaction) { return .behindFile }
    let free = try environment.freeByteCount(in: transaction)
    return free >= environment.reachableReserve(reserve) ? .inFreePages : .nowhere
  }

  /// Takes the reserve anew where the last commit has made the file so much larger that it is used up: others may
  /// fill the disk before anybody writes again.
  ///
  /// - Parameter room: What the commit had to leave.
  func renewDiskReserve(_ room: HeldRoom?) {
    guard environment.options.durability != .volatile else { return }
    // Where there is no room for it, the next save is refused.
    guard let map = try? environment.mapByteCount() else { return }
    let reserve = space.reserve(inMapOf: map)
    let isKept = (try? environment.keepReserve(reserve)) ?? true
    guard let room else { return }
    room.release()
    if !isKept { _ = try? environment.keepReserve(reserve) }
  }

  func shortage(of limit: Shortage.Limit) -> Shortage {
    // Where the store is closing, there is nothing to measure.
    let used = (try? environment.reachedByteCount()) ?? 0
    let free: Int? =
      switch limit {
      case .quota, .fileSize: nil
      case .map: (try? environment.mapByteCount()).map { max(0, $0 - used) }
      case .disk: environment.freeDiskByteCount
      }
    return Shortage(
      path: environment.folder, limit: limit, usedByteCount: used, freeByteCount: free,
      neededByteCount: nil)
  }
}

extension Shortage.Limit {
  /// What a failure says of itself; nil for failures of another kind, and for those of which it
  /// depends on the disk.
  init?(_ code: StorageFailure.Code) {
    switch code {
    case .mapFull: self = .map
    case .system(let number) where SystemErrors.noSpace.contains(number): self = .disk
    case .system(SystemErrors.tooLargeFile): self = .fileSize
    default: return nil
    }
  }
}

extension Error {
  /// Whether LMDB has no page left below the end of its map.
  var isFullMap: Bool {
    if case .storage(let error)? = self as? StoreError { return error.code == .mapFull }
    return (self as? LMDBError)?.code == .mapFull
  }
}
