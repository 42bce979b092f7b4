import Foundation
import Larder
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@testable import LarderRemote

/// Three clients that edit offline and sync in any order, compared with plain Swift.
@Suite("merging, compared with plain Swift", .timeLimit(.minutes(20))) struct MergeOracleTests {
  /// What a client that syncs alone makes of the server's version.
  private func merge(_ before: Stocked, _ here: Stocked, _ there: Stocked) -> Stocked {
    func either<Part: Equatable>(
      _ path: WritableKeyPath<Stocked, Part>, _ both: (Part, Part, Part) -> Part
    ) -> Part {
      let (before, here, there) = (before[keyPath: path], here[keyPath: path], there[keyPath: path])
      if here == before { return there }
      if there == before { return here }
      return both(before, here, there)
    }
    var merged = here
    merged.name = either(\.name) { $0 == $1 ? $2 : $1 }
    merged.stock = either(\.stock) { $2 + $1 - $0 }
    // Nil counts as 0, and stays nil where both sides have come to it.
    merged.maybe = either(\.maybe) { before, here, there in
      here == nil && there == nil ? nil : (there ?? 0) + (here ?? 0) - (before ?? 0)
    }
    merged.small = either(\.small) { Int8(exactly: Int($2) + Int($1) - Int($0)) ?? max($1, $2) }
    merged.seen = either(\.seen) { max($1, $2) }
    merged.shops = either(\.shops) { before, here, there in
      if here == there { return here }
      return there.filter { here.contains($0) || !before.contains($0) }
        + here.filter { !before.contains($0) && !there.contains($0) }
    }
    merged.notes = either(\.notes) { $1 == $2 ? $1 : $2 + "|" + $1 }
    merged.shelf.row = either(\.shelf.row) { $1 == $2 ? $2 : $1 }
    merged.shelf.count = either(\.shelf.count) { $2 + $1 - $0 }
    return merged
  }

  private func edit(_ item: inout Stocked, _ random: inout RandomSource) {
    for _ in 0..<random.int(1..<4) {
      switch random.int(0..<9) {
      case 0: item.name = "\(random.int(0..<9))"
      case 1: item.stock += random.int(-5..<6)
      case 2:
        let shop = "\(random.int(0..<6))"
        if let place = item.shops.firstIndex(of: shop) {
          item.shops.remove(at: place)
        } else {
          item.shops.append(shop)
        }
      case 3: item.seen = random.int(0..<20)
      case 4: item.notes = String(item.notes.suffix(12)) + "abc".prefix(random.int(0..<4))
      case 5: item.small = Int8(random.int(-128..<128))
      case 6: item.maybe = random.int(0..<4) == 0 ? nil : random.int(0..<9)
      case 7: item.shelf.row = random.int(0..<4)
      default: item.shelf.count += random.int(-2..<3)
      }
    }
  }

  @Test("three clients that edit and sync in any order have what plain Swift says, and the same")
  func clients() async throws {
    for _ in 0..<repetitions(25) {
      var random = RandomSource()
      let server = InMemoryRemote()
      let desks = try (0..<3).map { _ in
        try SyncDesk(server, collections: [SyncedCollection(Stocked.self)])
      }
      let keys = ["a", "b"]
      try await desks[0].stocked.save(keys.map { Stocked(id: $0, shops: ["0", "1"]) })
      for desk in desks { try await desk.sync() }
      var there = Dictionary(
        uniqueKeysWithValues: keys.map { ($0, Stocked(id: $0, shops: ["0", "1"])) })
      var before = Array(repeating: there, count: 3)
      var here = before
      func sync(_ client: Int) async throws {
        try await desks[client].sync()
        for key in keys {
          let merged = merge(before[client][key]!, here[client][key]!, there[key]!)
          (there[key], before[client][key], here[client][key]) = (merged, merged, merged)
        }
      }
      for _ in 0..<12 {
        let client = random.int(0..<3)
        let key = keys[random.int(0..<2)]
        guard random.int(0..<3) > 0 else {
          try await sync(client)
          continue
        }
        var edited = here[client][key]!
        edit(&edited, &random)
        here[client][key] = edited
        try await desks[client].stocked.save(edited)
      }
      for client in [0, 1, 2, 0, 1] { try await sync(client) }

      for desk in desks {
        for key in keys {
          let found = try desk.stocked.get(key)
          #expect(
            found == there[key],
            "\(String(describing: found)), not \(there[key]!), LARDER_SEED=\(random.seed)")
        }
        #expect(try desk.engine.pending() == [])
        try desk.close()
      }
    }
  }

  @Test("counters, sets and the larger value do not depend on who syncs first")
  func orders() throws {
    var random = RandomSource()
    let rules = MergeRules().over(Stocked.schema)
    for _ in 0..<repetitions(500) {
      var start = Stocked(id: "a", shops: ["0", "1", "2"], seen: 9)
      edit(&start, &random)
      let edits = (0..<3).map { _ in
        var item = start
        for _ in 0..<2 { edit(&item, &random) }
        return item
      }
      let results = try [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map {
        order in
        try order.reduce(document(start)) { there, client in
          try ThreeWayMerge(rules: rules, beganWithNothing: false)
            .merge(document(start), here: document(edits[client]), there: there)
        }
      }

      let total = edits.reduce(start.stock) { $0 + $1.stock - start.stock }
      for result in results {
        #expect(result["stock"] == .integer(Int64(total)), "LARDER_SEED=\(random.seed)")
        #expect(result["seen"] == results[0]["seen"], "LARDER_SEED=\(random.seed)")
        #expect(
          elements(result["shops"]) == elements(results[0]["shops"]), "LARDER_SEED=\(random.seed)")
        guard case .document(let shelf)? = result["shelf"] else {
          Issue.record("there is no shelf")
          continue
        }
        let count = edits.reduce(start.shelf.count) { $0 + $1.shelf.count - start.shelf.count }
        #expect(shelf["count"] == .integer(Int64(count)), "LARDER_SEED=\(random.seed)")
      }
    }
  }

  private func elements(_ value: Value?) -> Set<Value>? {
    guard case .array(let values)? = value else { return nil }
    return Set(values)
  }

  private func document(_ item: Stocked) -> DynamicDocument {
    [
      "id": .string(item.id), "name": .string(item.name), "stock": .integer(Int64(item.stock)),
      "shops": .array(item.shops.map { .string($0) }), "seen": .integer(Int64(item.seen)),
      "notes": .string(item.notes), "small": .integer(Int64(item.small)),
      "shelf": .document([
        "row": .integer(Int64(item.shelf.row)), "count": .integer(Int64(item.shelf.count)),
      ]),
    ]
  }
}
