/// Who waits for whom, where nobody gets what he waits for before another one has what that one waits for: those who wait
/// for each other in a circle can go on together, and those who wait for somebody who stays where he is cannot.
struct CircularWaits<Key: Hashable> {
  /// What each one waits for.
  private var blockers: [Key: Set<Key>] = [:]
  /// Those of groups that were taken.
  private var taken: Set<Key> = []

  mutating func add(_ key: Key, waitingFor blocker: Key) {
    blockers[key, default: []].insert(blocker)
  }

  /// Takes the groups of those that wait for each other, and for nobody else.
  mutating func takeGroups() -> [[Key]] {
    let dependents = self.dependents
    var left = Set(blockers.keys).subtracting(taken)
    var line = left.filter { blockers[$0]?.isSubset(of: left) == false }.map { $0 }
    left.subtract(line)
    while let key = line.popLast() {
      for dependent in dependents[key] ?? [] where left.remove(dependent) != nil {
        line.append(dependent)
      }
    }
    taken.formUnion(left)
    var groups: [[Key]] = []
    while let first = left.popFirst() {
      var group = [first]
      var place = 0
      while place < group.count {
        let key = group[place]
        place += 1
        for near in (blockers[key] ?? []).union(dependents[key] ?? [])
        where left.remove(near) != nil {
          group.append(near)
        }
      }
      groups.append(group)
    }
    return groups
  }

  /// Puts a group back, as one of it turned out to wait for another one, too. If that one is in the group, they want the
  /// same, and this one does not get it.
  mutating func put(back group: [Key], as key: Key, waitsFor other: Key) {
    taken.subtract(group)
    if group.contains(other) {
      blockers[key] = nil
    } else {
      blockers[key]?.insert(other)
    }
  }

  private var dependents: [Key: [Key]] {
    var dependents: [Key: [Key]] = [:]
    for (key, blockers) in blockers {
      for blocker in blockers { dependents[blocker, default: []].append(key) }
    }
    return dependents
  }
}
