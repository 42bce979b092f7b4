/// How the building of indexes goes on in the background.
struct IndexWork {
  /// Whether a step stands in the writer's line.
  var isScheduled = false
  /// What the last step of each index lacked that found no room, by the index's number.
  private(set) var shortages: [UInt32: Shortage] = [:]
  /// Those among them that the background passes over, until there may be room, and whether they were
  /// being emptied: one that is dropped while it waits is not meant any more.
  private(set) var passedOver: [UInt32: Bool] = [:]
  /// Search indexes, by number, whose segments may wait for being merged.
  var searchesToMerge: Set<UInt32> = []
  /// Indexes, by number, that are to be built anew as they were not made as it is done today.
  var numbersToRenew: Set<UInt32> = []
  /// Of which indexes was told that the default of a field has changed.
  private var toldOfDefaults: Set<[String]> = []
  /// Bytes in use, without the log, from which on another step is worth its while.
  private var enough = 0
  /// Commits since the background tried the last time.
  private var commitCount = 0

  /// Commits after which a step is tried in any case, twice as many each time that it was in vain: a
  /// disk may have room again, or a long read have ended, without the store having become smaller.
  private var patience = Self.leastPatience

  private static let leastPatience = 64
  /// By how much a store must become smaller, at most; by a sixteenth where that is less.
  private static let step = 256 << 10

  /// A step was kept. One that empties an index makes room for others.
  mutating func advance(_ number: UInt32, makesRoom: Bool) {
    shortages[number] = nil
    passedOver[number] = nil
    if makesRoom { passedOver = [:] }
    patience = Self.leastPatience
  }

  /// Whether it was not told yet that the default of a field has changed.
  mutating func isFirstTold(of index: IndexDefinition) -> Bool {
    toldOfDefaults.insert([index.collection, index.name]).inserted
  }

  /// The next index to be built anew, without those that are passed over where nobody has asked.
  ///
  /// - Parameter meant: Nil for all.
  func nextToRenew(among meant: Set<UInt32>? = nil, inBackground: Bool = true) -> UInt32? {
    numbersToRenew.filter {
      meant?.contains($0) != false && (!inBackground || passedOver[$0] == nil)
    }.min()
  }

  mutating func hasRenewed(_ number: UInt32) {
    numbersToRenew.remove(number)
    shortages[number] = nil
    passedOver[number] = nil
  }

  /// It failed for another reason than want of room, and is tried again some commits later.
  mutating func passOver(_ number: UInt32) {
    if passedOver.isEmpty { commitCount = 0 }
    passedOver[number] = false
  }

  /// There may be room for all of them.
  mutating func end() {
    shortages = [:]
    passedOver = [:]
    patience = Self.leastPatience
  }

  mutating func wait(
    _ number: UInt32, isEmptied: Bool, with shortage: Shortage, using byteCount: Int
  ) {
    enough = byteCount - min(Self.step, byteCount / 16)
    // Whoever asks in between does not put off the background.
    let isFirst = shortages.isEmpty
    if isFirst || commitCount >= patience {
      if !isFirst { patience = min(2 * patience, 1 << 16) }
      commitCount = 0
    }
    shortages[number] = shortage
    passedOver[number] = isEmptied
  }

  /// Whether to try those again that were passed over, after a commit that leaves so many bytes in use
  /// without the log.
  mutating func goesOn(using byteCount: Int) -> Bool {
    if passedOver.isEmpty { return true }
    commitCount += 1
    guard byteCount <= enough || commitCount >= patience else { return false }
    passedOver = [:]
    return true
  }
}
