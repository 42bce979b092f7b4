import Foundation
import Larder
import LarderImport

/// Something that is done to a store, of which one call to the system does not go well.
struct FaultScenario: Sendable {
  /// What a store holds: ids and nonces.
  typealias Content = [String: String]

  let name: String
  /// Whether the store exists before, and is open when the action begins.
  var begins = Beginning.open
  /// What holds once the action has succeeded.
  let after: @Sendable (_ before: Content, _ nonce: String) -> Content
  /// What may hold besides what was before, where it was refused: batches that are kept.
  var partial: @Sendable (_ before: Content, _ nonce: String) -> [Content] = { _, _ in [] }
  /// Does it. A store that it opens is left in the place.
  let act: @Sendable (_ place: FaultPlace, _ nonce: String) throws -> Void
  /// What is wrong with what it leaves besides the store, once it has succeeded or was refused.
  var inspect: @Sendable (_ place: FaultPlace, _ isDone: Bool) -> String? = { _, _ in nil }

  enum Beginning: Sendable { case absent, closed, open }

  static let all = [
    FaultScenario(
      name: "create", begins: .absent, after: { _, nonce in ["first": nonce] },
      act: { place, nonce in
        try place.openStore().repository(of: Crate.self).save(Crate(id: "first", nonce: nonce))
      }),
    FaultScenario(
      name: "open", begins: .closed, after: { before, _ in before },
      act: { place, _ in try place.openStore() }),
    FaultScenario(
      name: "save", after: { saved($0, $1) },
      act: { place, nonce in try place.crates().save(savedCrates(nonce)) }),
    FaultScenario(
      name: "save-large",
      after: { before, nonce in
        before.merging((0..<40).map { ("large-\($0)", nonce) }) { _, new in new }
      },
      act: { place, nonce in
        try place.crates().save(
          (0..<40).map { number in
            Crate(
              id: "large-\(number)", nonce: nonce, group: number,
              body: String(repeating: "b", count: number % 2 == 0 ? 3000 : 12_000))
          })
      }),
    FaultScenario(
      name: "save-by-tasks", after: { saved($0, $1) },
      act: { place, nonce in
        let crates = try place.crates()
        let batch = savedCrates(nonce)
        _ = try waiting { try await crates.save(batch) }
      }),
    FaultScenario(
      name: "delete", after: { before, _ in before.filter { group(of: $0.key) != 1 } },
      act: { place, _ in try place.crates().delete(Crate.where { $0.group == 1 }) }),
    FaultScenario(
      name: "clear-before-save",
      after: { before, nonce in
        saved(before.filter { group(of: $0.key) != 1 }, nonce)
      },
      act: { place, nonce in
        try place.crates().save(
          savedCrates(nonce), clearBeforeSaving: Crate.where { $0.group == 1 })
      }),
    FaultScenario(
      name: "import", after: { imported($0, $1, 150) },
      partial: { before, nonce in [50, 100, 150].map { imported(before, nonce, $0) } },
      act: { place, nonce in
        var options = ImportOptions()
        options.batchDocumentCount = 50
        let lines = (0..<150).map { "{\"id\":\"line-\($0)\",\"nonce\":\"\(nonce)\",\"group\":5}\n" }
        _ = try place.store().importDocuments(
          from: .bytes(Array(lines.joined().utf8), name: "lines.ndjson"), into: Crate.self,
          options: options)
      }),
    FaultScenario(
      name: "compact", after: { before, _ in before },
      act: { place, _ in try place.store().compact(timeout: .seconds(0.2)) }),
    FaultScenario(
      name: "backup", after: { before, _ in before },
      act: { place, _ in try place.store().backup(to: place.path("backup")) },
      inspect: { place, isDone in place.inspectBackup(isDone: isDone) }),
    FaultScenario(
      name: "restore", begins: .closed, after: { before, _ in before.filter { $0.key != "young" } },
      act: { place, _ in try Store.restore(from: place.path("old"), to: place.path("store")) }),
    FaultScenario(
      name: "acknowledge",
      after: { before, nonce in
        before.merging(["consumed": nonce]) { _, new in new }
      },
      act: { place, nonce in
        let store = try place.store()
        try waiting {
          for try await batch in store.changes(for: "consumer") {
            try await store.write { tx in
              try tx.save(Crate(id: "consumed", nonce: nonce))
              try tx.acknowledge(batch)
            }
            return
          }
        }
      },
      inspect: { place, isDone in place.inspectConsumer(isDone: isDone) }),
    FaultScenario(
      name: "suspend", after: { before, _ in before },
      act: { place, _ in
        try place.store().suspend()
        try place.store().resume()
      }),
    FaultScenario(
      name: "publish", after: { before, _ in before },
      act: { place, _ in
        _ = try place.store().publish(
          Crate.all, to: URL(fileURLWithPath: place.path("published")))
      },
      inspect: { place, isDone in place.inspectPublication(isDone: isDone) }),
    FaultScenario(
      name: "collect",
      after: { collected($0, $1) },
      // It may end behind its commit, when the letter is taken away.
      partial: { before, nonce in [collected(before, nonce)] },
      act: { place, nonce in
        place.posted = nil
        try place.mailbox.post([Crate(id: "letter", nonce: nonce)])
        place.posted = nonce
        try place.collect()
      },
      inspect: { place, _ in place.inspectMailbox() }),
  ]

  // MARK: Crates

  /// Every store begins with these.
  static func firstCrates(_ nonce: String) -> [Crate] {
    (0..<60).map { number in
      let id = "crate-\(number)"
      return Crate(
        id: id, nonce: nonce, group: group(of: id),
        body: String(repeating: "a", count: number % 10 == 0 ? 9000 : 300))
    }
  }

  private static func group(of id: String) -> Int {
    (Int(id.split(separator: "-").last ?? "") ?? 0) % 4
  }

  /// Some that are there, and some that are not.
  private static func savedCrates(_ nonce: String) -> [Crate] {
    (54..<66).map { number in
      Crate(id: "crate-\(number)", nonce: nonce, group: group(of: "crate-\(number)"), body: "s")
    }
  }

  private static func saved(_ before: Content, _ nonce: String) -> Content {
    before.merging(savedCrates(nonce).map { ($0.id, $0.nonce) }) { _, new in new }
  }

  private static func collected(_ before: Content, _ nonce: String) -> Content {
    before.merging(["letter": nonce]) { _, new in new }
  }

  private static func imported(_ before: Content, _ nonce: String, _ count: Int) -> Content {
    before.merging((0..<count).map { ("line-\($0)", nonce) }) { _, new in new }
  }
}
