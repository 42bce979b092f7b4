/// How the building of indexes goes on in the background.
struct IndexWork {
  /// Whether a step stands in the writer's line.
  var isScheduled = false
  /// What the last step lacked; nil where it was kept.
  private(set) var shortage: Shortage?
  /// Bytes in use, without the log, from which on another step is worth its while.
  private var enough = 0
  /// Commits since the last step.
  private var commitCount = 0

  /// Commits after which a step is tried in any case, twice as many each time that it was in vain: a
  /// disk may have room again, or a long read have ended, without the store having become smaller.
  private var patience = Self.leastPatience

  private static let leastPatience = 64
  /// By how much a store must become smaller, at most; by a sixteenth where that is less.
  private static let step = 256 << 10

  mutating func end() {
    shortage = nil
    patience = Self.leastPatience
  }

  mutating func wait(with shortage: Shortage, using byteCount: Int) {
    if self.shortage != nil { patience = min(2 * patience, 1 << 16) }
    self.shortage = shortage
    enough = byteCount - min(Self.step, byteCount / 16)
    commitCount = 0
  }

  /// Whether to go on after a commit that leaves so many bytes in use, without the log.
  mutating func goesOn(using byteCount: Int) -> Bool {
    if shortage == nil { return true }
    commitCount += 1
    return byteCount <= enough || commitCount >= patience
  }
}
