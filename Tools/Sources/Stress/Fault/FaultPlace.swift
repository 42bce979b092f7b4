import Foundation
import Larder

/// The folder of one point, with the store that is open in it.
// Guard: used by the worker's main thread only; what runs elsewhere gets the store itself.
final class FaultPlace: @unchecked Sendable {
  let folder: String
  private var opened: Store?
  /// The nonce of a letter that the mailbox has taken.
  var posted: String?

  init(_ folder: String) { self.folder = folder }

  func path(_ name: String) -> String { folder + "/" + name }

  @discardableResult
  func openStore() throws -> Store {
    let store = try Store(at: path("store"))
    opened = store
    return store
  }

  func store() throws -> Store {
    guard let opened else { throw UsageError("nothing is open") }
    return opened
  }

  var isOpen: Bool { opened != nil }

  func crates() throws -> StoreRepository<Crate> { try store().repository(of: Crate.self) }

  var mailbox: Mailbox { Mailbox(at: URL(fileURLWithPath: path("mailbox"))) }

  /// - Throws: The error of a letter that cannot be read or merged, too.
  func collect() throws {
    let report = try store().collect(Crate.self, from: mailbox)
    if let (_, error) = report.unreadable.first ?? report.refused.first { throw error }
  }

  func content() throws -> FaultScenario.Content {
    Dictionary(
      try crates().fetch(Crate.all).map { ($0.id, $0.nonce) }, uniquingKeysWith: { old, _ in old }
    )
  }

  /// Closes the store at once: what still runs in it is a leak.
  func closeStore(timeoutSeconds: Double = 0.5) throws {
    try opened?.close(timeout: .seconds(timeoutSeconds))
    opened = nil
  }

  /// A store that cannot be used any more.
  func forgetStore() { opened = nil }

  // MARK: Templates

  /// Makes the store that each point begins with, and one to restore, which lacks a crate.
  static func makeTemplate(_ folder: String, nonce: String) throws {
    let place = FaultPlace(folder)
    let store = try place.openStore()
    try place.crates().save(FaultScenario.firstCrates(nonce))
    // Its place is stored, and what comes now waits for it.
    try waiting {
      for try await batch in store.changes(for: "consumer") {
        try await store.write { try $0.acknowledge(batch) }
        return
      }
    }
    try store.backup(to: place.path("old"))
    try place.crates().save(Crate(id: "young", nonce: nonce))
    try place.closeStore()
  }

  static func templateContent(_ nonce: String) -> FaultScenario.Content {
    Dictionary(
      (FaultScenario.firstCrates(nonce).map(\.id) + ["young"]).map { ($0, nonce) },
      uniquingKeysWith: { old, _ in old })
  }

  /// The files of a template, and nothing else.
  func fill(from template: String, _ beginning: FaultScenario.Beginning) throws {
    try? FileManager.default.removeItem(atPath: folder)  // Of the point before.
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if beginning == .absent { return }
    for name in ["store", "old"] {
      mkdir(path(name), 0o700)
      for file in ["data.mdb", "larder.lock"] {
        guard let bytes = FileManager.default.contents(atPath: "\(template)/\(name)/\(file)") else {
          continue  // A backup has no lock.
        }
        try bytes.write(to: URL(fileURLWithPath: path("\(name)/\(file)")))
        chmod(path("\(name)/\(file)"), 0o600)
      }
    }
  }

  // MARK: What is left besides the store

  func inspectBackup(isDone: Bool) -> String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    if !isDone { return names.contains("backup") ? "a backup that was refused is there" : nil }
    return names.contains("backup") ? inspectCopy() : "there is no backup"
  }

  private func inspectCopy() -> String? {
    do {
      let copy = try Store(at: path("backup"), options: StoreOptions(isReadOnly: true))
      let report = try copy.check()
      let count = try copy.repository(of: Crate.self).count()
      try copy.close()
      if !report.isSound { return "the backup is not sound: \(report.problems.prefix(2))" }
      return count == 61 ? nil : "the backup has \(count) crates"
    } catch {
      return "the backup cannot be opened: \(error)"
    }
  }

  /// Whether the consumer hears of its changes again must fit whether they were acknowledged.
  func inspectConsumer(isDone: Bool) -> String? {
    do {
      let store = try store()
      // A marker, so that there is always something to hear of.
      try crates().save(Crate(id: "marker", nonce: "m"))
      let keys = try waiting {
        for try await batch in store.changes(for: "consumer") {
          return batch.isReset ? ["reset"] : batch.changes.map { "\($0.key)" }
        }
        return []
      }
      let hasHeard = !keys.contains { $0.contains("young") }
      try crates().delete(keys: ["marker"])
      if keys == ["reset"] { return "the consumer has lost its place" }
      return hasHeard == isDone ? nil : "the consumer heard \(keys), done: \(isDone)"
    } catch {
      return "the consumer cannot go on: \(error)"
    }
  }

  /// A publication that was refused leaves no file, or a whole one.
  func inspectPublication(isDone: Bool) -> String? {
    let folder = URL(fileURLWithPath: path("published"))
    do {
      let reader = try Store(published: folder)
      let report = try reader.check()
      let count = try reader.repository(of: Crate.self).count()
      try reader.close()
      if !report.isSound { return "what is published is not sound: \(report.problems.prefix(2))" }
      return count == 61 ? nil : "\(count) crates are published"
    } catch {
      let file = folder.appendingPathComponent("data.mdb").path
      let mayLack = !isDone && !FileManager.default.fileExists(atPath: file)
      return mayLack ? nil : "what is published cannot be opened: \(error)"
    }
  }

  /// A letter that the mailbox has taken comes into the store, now at the latest, and once.
  func inspectMailbox() -> String? {
    do {
      try collect()
      let found = try content()["letter"]
      if let posted, found != posted { return "a letter is lost" }
      return try mailbox.letters().isEmpty ? nil : "a letter stays in the mailbox"
    } catch {
      return "the mailbox cannot be collected: \(error)"
    }
  }
}
