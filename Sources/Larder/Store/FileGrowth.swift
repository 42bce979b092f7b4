internal import LarderLMDB
internal import Synchronization

/// Notices that the store's file has become much larger than what is in it: somebody, perhaps of
/// another process, holds a snapshot, and until it ends no page that it could see is used again.
final class FileGrowth: Sendable {
  /// A file up to this size is nobody's trouble.
  static let smallByteCount = 4 << 20

  /// The size from which the file is looked at. Touched behind commits, one at a time.
  private let nextByteCount = Atomic<Int>(smallByteCount)

  /// Begins anew, as the file has been written anew.
  func forget() { nextByteCount.store(Self.smallByteCount, ordering: .relaxed) }

  /// Looks at the file, each time that it has doubled. Called behind a commit.
  func look(_ engine: Engine) {
    // Where they cannot be asked, the store is closing.
    guard let reached = try? engine.environment.reachedByteCount(),
      reached >= nextByteCount.load(ordering: .relaxed)
    else { return }
    nextByteCount.store(2 * reached, ordering: .relaxed)
    // One who died inside a read has it grow with each commit.
    _ = engine.freeDeadReaders()
    guard engine.log.isActive, let reading = try? engine.environment.beginRead() else { return }
    let used = engine.environment.usedByteCount(in: reading)
    guard reached > 2 * used else { return }
    engine.log.tell(
      .warning,
      "the file is mostly free pages; end snapshots that are held long, then compact the store",
      ["bytes": "\(reached)", "used": "\(used)"])
  }
}
