/// Who waits for whom, where nobody gets what he waits for before another one has what that one waits for: those who wait
/// for each other in a circle can go on together, and those who wait for somebody who stays where he is cannot.
struct CircularWaits<Key: Hashable & Comparable> {
  /// What each one waits for.
  private var blockers: [Key: Set<Key>] = [:]
  /// Who waits for each one, or has waited.
  private var dependents: [Key: Set<Key>] = [:]

  /// - Returns: False where it is known.
  @discardableResult
  mutating func add(_ key: Key, waitingFor blocker: Key) -> Bool {
    dependents[blocker, default: []].insert(key)
    return blockers[key, default: []].insert(blocker).inserted
  }

  /// A key waits for nobody any more: it has what it waited for, or does not get it.
  mutating func remove(_ key: Key) { blockers[key] = nil }

  /// Those that wait for a key, which wait for nobody any more: it has gone on.
  mutating func release(by key: Key) -> [Key] {
    let released = (dependents.removeValue(forKey: key) ?? []).sorted()
      .filter { blockers[$0]?.contains(key) == true }
    for key in released { blockers[key] = nil }
    return released
  }

  /// Circles of those who wait for nobody outside of them: the smallest groups that can go on. Whoever waits for one of a
  /// circle is not in it.
  ///
  /// The strongly connected components that no edge leaves: Tarjan, "Depth-first search and linear graph algorithms",
  /// 1972, without recursion.
  func circles() -> [[Key]] {
    var circles: [[Key]] = []
    var numbers: [Key: Int] = [:]
    var low: [Key: Int] = [:]
    var (open, isOpen) = ([Key](), Set<Key>())
    for root in blockers.keys.sorted() where numbers[root] == nil {
      var path: [(key: Key, rest: ArraySlice<Key>)] = []
      func enter(_ key: Key) {
        (numbers[key], low[key]) = (numbers.count, numbers.count)
        open.append(key)
        isOpen.insert(key)
        path.append((key, (blockers[key] ?? []).sorted()[...]))
      }
      enter(root)
      while let (key, rest) = path.last {
        if let next = rest.first {
          path[path.count - 1].rest = rest.dropFirst()
          if numbers[next] == nil {
            enter(next)
          } else if isOpen.contains(next) {
            low[key] = min(low[key] ?? 0, numbers[next] ?? 0)
          }
          continue
        }
        path.removeLast()
        if let above = path.last?.key { low[above] = min(low[above] ?? 0, low[key] ?? 0) }
        guard low[key] == numbers[key], let start = open.lastIndex(of: key) else { continue }
        let group = Array(open[start...])
        open.removeSubrange(start...)
        isOpen.subtract(group)
        let members = Set(group)
        if group.allSatisfy({ blockers[$0]?.isSubset(of: members) == true }) {
          circles.append(group.sorted())
        }
      }
    }
    return circles
  }
}
