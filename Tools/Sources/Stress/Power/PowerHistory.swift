/// What may be in a store when the power goes now: what was acknowledged, and of what was under way
/// each transaction whole or not at all.
struct PowerHistory {
  enum Fault: String { case lost, phantom, corrupt }

  struct Verdict {
    let fault: Fault
    let text: String
  }

  /// The versions of each writer's part since the store was made or restored, with those under way.
  private var versions: [[Version]] = PowerLoad.writers.map { _ in [Version()] }
  /// The newest of them that was acknowledged, by writer.
  private var done = PowerLoad.writers.map { _ in 0 }
  /// What was there before a restoration, by writer.
  private var earlier: [[Version]] = PowerLoad.writers.map { _ in [] }
  private var backups: [Int: (contents: [Version], isDone: Bool)] = [:]
  /// The contents that the store is being given.
  private var restoring: [Version]?
  /// The random numbers of all that was begun.
  private var nonces: Set<Int> = []

  private var mayLoseRecent = false

  private(set) var ackedCount = 0

  mutating func read(_ mark: Mark) {
    switch mark {
    case .mayLoseRecent: mayLoseRecent = true
    case .begun(let step):
      let last = versions[step.writer].last ?? Version()
      versions[step.writer].append(step.applied(to: last))
      nonces.formUnion(step.saved.map(\.nonce) + [step.nonce])
    case .done(let writer):
      done[writer] = versions[writer].count - 1
      ackedCount += 1
    case .backupBegun(let number): backups[number] = (versions.compactMap(\.last), false)
    case .backupDone(let number): backups[number]?.isDone = true
    case .restoreBegun(let number): restoring = backups[number]?.contents
    case .restoreDone:
      for writer in PowerLoad.writers { earlier[writer] += versions[writer] }
      versions = (restoring ?? []).map { [$0] }
      done = PowerLoad.writers.map { _ in 0 }
      restoring = nil
    }
  }

  /// Backups by number, and whether each must be there.
  var knownBackups: [(number: Int, isDone: Bool)] {
    backups.map { ($0.key, $0.value.isDone) }.sorted { $0.0 < $1.0 }
  }

  /// What is wrong with a store in which this was found, by writer; nil where it is as it may be.
  func judge(_ found: [Version]) -> Verdict? {
    if let restoring, found == restoring { return nil }
    for writer in PowerLoad.writers {
      let allowed = versions[writer][(mayLoseRecent ? 0 : done[writer])...]
      if !allowed.contains(found[writer]) { return verdict(writer, found[writer], allowed.count) }
    }
    return nil
  }

  /// The same of a backup.
  func judge(_ found: [Version], ofBackup number: Int) -> Verdict? {
    guard let expected = backups[number]?.contents, expected != found else { return nil }
    return Verdict(fault: .corrupt, text: "backup \(number) differs from the store of its moment")
  }

  private func verdict(_ writer: Int, _ found: Version, _ count: Int) -> Verdict {
    let place =
      "writer \(writer), of whose \(done[writer]) steps all are acknowledged and"
      + " \(count - 1) under way"
    let numbers = found.parcels.values.map(\.nonce) + [found.receipt].compactMap { $0 }
    if let number = numbers.first(where: { !nonces.contains($0) }) {
      return Verdict(fault: .phantom, text: "\(place): \(number) was never written")
    }
    if let old = versions[writer].lastIndex(of: found) {
      return Verdict(fault: .lost, text: "\(place): the store is at step \(old)")
    }
    if earlier[writer].contains(found) || found == Version() {
      return Verdict(fault: .lost, text: "\(place): the store is older than its restoration")
    }
    return Verdict(fault: .corrupt, text: "\(place): the store is at none of them")
  }
}
