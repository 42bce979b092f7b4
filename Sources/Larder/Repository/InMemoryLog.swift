/// The last changes of a collection in memory, for watchers that have to know whether these concern them.
struct InMemoryLog: Sendable {
  struct Change: Sendable {
    let key: [UInt8]
    /// The document before the change and after it; nil where there was none.
    let old, new: [UInt8]?
  }

  private struct Write {
    let end: UInt64
    let origin: ChangeOrigin
    let changes: [Change]
    /// Whether it has erased everything, which every watcher is told, as by a store.
    let isErasing: Bool
  }

  private var writes: [Write] = []
  /// How many changes they have.
  private var count = 0
  /// The last change that is not kept any more.
  private var start: UInt64 = 0
  /// What the write that is going on has done up to now.
  private var current: [Change] = []
  private var isErasing = false

  private static var limit: Int { 1000 }

  /// Takes down a change of the write that is going on.
  mutating func note(_ key: [UInt8], from old: [UInt8]?, to new: [UInt8]?) {
    // With more than these none of them is kept.
    if old != new, current.count <= Self.limit {
      current.append(Change(key: key, old: old, new: new))
    }
  }

  /// Takes down that the write that is going on erases everything.
  mutating func noteErased() { isErasing = true }

  /// Ends a write, of which the last change has this number.
  mutating func end(_ sequence: UInt64, _ origin: ChangeOrigin) {
    writes.append(
      Write(end: sequence, origin: origin, changes: current, isErasing: isErasing))
    count += current.count
    (current, isErasing) = ([], false)
    while count > Self.limit {
      let first = writes.removeFirst()
      count -= first.changes.count
      start = first.end
    }
  }

  /// Whether some write behind a change, of another origin than these, has made a change that passes a test, or may
  /// have.
  func hasChange(
    after position: UInt64, ignoring ignored: Set<ChangeOrigin>, where isWanted: (Change) -> Bool
  ) -> Bool {
    if position < start { return true }
    return writes.contains {
      $0.end > position && !ignored.contains($0.origin)
        && ($0.isErasing || $0.changes.contains(where: isWanted))
    }
  }
}
