import Foundation
import Larder

/// Opens what the power left, and compares it with what may be there.
struct PowerChecker {
  /// The folder that stands for the disk.
  let folder: String

  private var store: String { folder + "/store" }

  private var options: StoreOptions {
    var options = StoreOptions()
    options.mapByteCount = 64 << 20
    options.reserveByteCount = 0
    return options
  }

  /// What is wrong; nil where it is as it may be. Everything thrown by the library is wrong: no
  /// loss of power may make a store that cannot be used.
  func check(_ history: PowerHistory, _ random: inout SeededGenerator) -> PowerHistory.Verdict? {
    do {
      if let verdict = try checkStore(history, &random) { return verdict }
      for backup in history.knownBackups {
        let isLast = backup.number == history.knownBackups.last?.number
        guard isLast || Int.random(in: 0..<8, using: &random) == 0 else { continue }
        if let verdict = try check(backup, history) { return verdict }
      }
      return nil
    } catch {
      return .init(fault: .corrupt, text: "\(error)")
    }
  }

  private func checkStore(
    _ history: PowerHistory, _ random: inout SeededGenerator
  ) throws -> PowerHistory.Verdict? {
    let opened = try Store(at: store, options: options)
    defer { try? opened.close() }  // The folder is thrown away.
    let found = try contents(opened)
    if let verdict = history.judge(found) { return verdict }
    let leftovers = try FileManager.default.contentsOfDirectory(atPath: store)
    if leftovers.contains(where: { $0.hasPrefix(".") }) {
      return .init(fault: .corrupt, text: "a leftover stays: \(leftovers)")
    }
    guard Int.random(in: 0..<4, using: &random) == 0 else { return nil }
    // It is a store like any other: it takes writes, which another opening finds.
    let step = Step(PowerLoad.writers.upperBound - 1, using: &random)
    try opened.write { scope in try step.apply(to: &scope) }
    try opened.close()
    let again = try Store(at: store, options: options)
    defer { try? again.close() }
    var expected = found
    expected[step.writer] = step.applied(to: found[step.writer])
    if try contents(again) != expected {
      return .init(fault: .corrupt, text: "a write after the opening is not what it was")
    }
    let backup = folder + "/backup-last"
    try again.backup(to: backup)
    return nil
  }

  /// One whose making had not ended may be missing, and is whole where it is there.
  private func check(
    _ backup: (number: Int, isDone: Bool), _ history: PowerHistory
  ) throws -> PowerHistory.Verdict? {
    let path = folder + "/backup-\(backup.number)"
    guard FileManager.default.fileExists(atPath: path) else {
      guard backup.isDone else { return nil }
      return .init(fault: .lost, text: "backup \(backup.number) is not there")
    }
    let opened = try Store(at: path, options: options)
    defer { try? opened.close() }  // As above.
    return history.judge(try contents(opened), ofBackup: backup.number)
  }

  private struct Unsound: Error, CustomStringConvertible {
    let description: String
  }

  /// Everything in a store by writer, after the store's own check and with what its index says.
  private func contents(_ store: Store) throws -> [Version] {
    let report = try store.check()
    guard report.isSound else { throw Unsound(description: "check: \(report.problems.prefix(3))") }
    return try store.read { snapshot in
      let parcels = try snapshot.fetch(Parcel.all)
      var onShelves = 0
      for shelf in Parcel.shelves {
        let found = try snapshot.fetch(Parcel.where { $0.shelf == shelf })
        onShelves += found.count
        guard found.allSatisfy({ $0.shelf == shelf }) else {
          throw Unsound(description: "shelf \(shelf) has parcels of another one")
        }
      }
      guard onShelves == parcels.count, try snapshot.count(Parcel.all) == parcels.count else {
        throw Unsound(description: "\(parcels.count) parcels, and \(onShelves) on shelves")
      }
      // A few are looked for by their words; the store's check has looked at every one.
      for place in stride(from: 0, to: parcels.count, by: max(1, parcels.count / 8)) {
        guard let word = parcels[place].word else { continue }
        guard try snapshot.fetch(Parcel.search(word)) == [parcels[place]] else {
          throw Unsound(description: "a search does not find parcel \(parcels[place].id)")
        }
      }
      var versions = PowerLoad.writers.map { _ in Version() }
      for parcel in parcels {
        guard let writer = parcel.id.first?.wholeNumberValue, versions.indices.contains(writer)
        else { throw Unsound(description: "a parcel of nobody, \(parcel.id)") }
        versions[writer].parcels[parcel.id] = parcel
      }
      for receipt in try snapshot.fetch(Receipt.all) {
        guard versions.indices.contains(receipt.id) else {
          throw Unsound(description: "a receipt of nobody, \(receipt.id)")
        }
        versions[receipt.id].receipt = receipt.nonce
      }
      return versions
    }
  }
}
