import Foundation
import Larder

/// What must hold of the stores of all clients once they have synced.
struct SyncAudit {
  private let stores: [URL]
  private let scope: String

  init(_ stores: [URL], scope: String) {
    self.stores = stores
    self.scope = scope
  }

  /// - Parameter acknowledged: The edits that each client said are kept.
  func run(acknowledged: [Set<String>]) throws -> Tally {
    var tally = Tally()
    var copies: [[SyncedCard]] = []
    var edits: [SyncedEdit] = []
    for (number, folder) in stores.enumerated() {
      let store = try Store(at: folder)
      defer { try? store.close() }  // It was read only.
      for problem in try store.check().problems {
        tally.fault("corrupt", "client \(number): \(problem)")
      }
      copies.append(
        try store.repository(of: SyncedCard.self).fetch(SyncedCard.all.sorted(by: \.id)))
      let own = try store.repository(of: SyncedEdit.self).fetch(SyncedEdit.all)
      edits += own
      for id in acknowledged[number].subtracting(own.map(\.id)) {
        tally.fault("lost", "edit \(id) was kept by client \(number), and its store has it no more")
      }
      tally.acked += acknowledged[number].count
    }
    for (number, copy) in copies.enumerated() where copy != copies[0] {
      let others = copies[0].filter { !copy.contains($0) }
      let own = copy.filter { !copies[0].contains($0) }
      tally.fault(
        "divergent", "client \(number) has \(own.prefix(1)), and client 0 has \(others.prefix(1))")
    }
    compare(copies[0], with: edits, &tally)
    return tally
  }

  /// Every edit is in the documents, and is there once.
  private func compare(_ copy: [SyncedCard], with edits: [SyncedEdit], _ tally: inout Tally) {
    let removed = Set(edits.compactMap(\.removed))
    for id in Set(edits.map(\.card)).sorted() {
      let own = edits.filter { $0.card == id }
      guard let card = copy.first(where: { $0.id == id }) else {
        tally.fault("lost", "\(id) is gone")
        continue
      }
      let count = own.reduce(0) { $0 + $1.added }
      if card.count < count {
        tally.fault("lost", "\(id) counts \(card.count), and \(count) were added")
      }
      if card.count > count {
        tally.fault("phantom", "\(id) counts \(card.count), and \(count) were added")
      }
      let tags = Set(own.compactMap(\.tag)).subtracting(removed)
      for tag in tags.subtracting(card.tags) { tally.fault("lost", "\(id) has no tag \(tag)") }
      for tag in Set(card.tags).subtracting(tags) {
        tally.fault("phantom", "\(id) has the tag \(tag)")
      }
      if Set(card.tags).count < card.tags.count { tally.fault("phantom", "\(id) has a tag twice") }
    }
    let expected = Set(edits.map(\.card)).union(["\(scope)-\(SyncedCard.deletedName)"])
    for card in copy where !expected.contains(card.id) {
      tally.fault("phantom", "\(card.id) is there")
    }
  }
}
