import Foundation
import Larder
import LarderRemote
import LarderTesting
import Testing

/// Rules that stand in front of the properties of a type.
@Suite("rules of a type", .timeLimit(.minutes(20))) struct TypedRuleTests {
  private let server = InMemoryRemote()
  private let key = RemoteKey("Stocked", "a")

  private func desk(_ rules: MergeRules = [:]) throws -> SyncDesk {
    try SyncDesk(server, collections: [SyncedCollection(Stocked.self, rules: rules)])
  }

  /// Two clients with the same document, edited on both and synced; what the second one has then.
  private func merged(
    _ rules: MergeRules = [:], _ document: Stocked = Stocked(id: "a"),
    _ first: (inout Stocked) -> Void, _ second: (inout Stocked) -> Void
  ) async throws -> Stocked? {
    let desks = [try desk(rules), try desk(rules)]
    try await desks[0].stocked.save(document)
    for desk in desks { try await desk.sync() }
    try desks[0].stocked.update("a", first)
    try desks[1].stocked.update("a", second)
    for desk in desks + [desks[0]] { try await desk.sync() }
    let results = try desks.map { try $0.stocked.get("a") }
    #expect(results[0] == results[1])
    for desk in desks { try desk.close() }
    return results[1]
  }

  @Test("they reach the engine without being declared a second time, in embedded documents too")
  func reach() async throws {
    let merged = try await merged { item in
      item = Stocked(
        id: "a", name: "one", stock: 12, shops: ["x"], seen: 9, notes: "1", small: 3, maybe: 2,
        grade: .high, award: .low, shelf: Shelf(row: 1, count: 4))
    } _: { item in
      item = Stocked(
        id: "a", name: "two", stock: 7, shops: ["y"], seen: 5, notes: "2", small: 1, maybe: 5,
        grade: .low, award: .high, shelf: Shelf(row: 0, count: 2))
    }

    #expect(
      merged
        == Stocked(
          id: "a", name: "two", stock: 9, shops: ["x", "y"], seen: 9, notes: "1|2", small: 4,
          maybe: 7, grade: .high, award: .high, shelf: Shelf(row: 1, count: 6)))
  }

  @Test("a rule that is given with the collection goes before that of the type")
  func given() async throws {
    let merged = try await merged([
      "stock": .max,
      "name": .custom { (_: String?, here: String?, _: String?) in "\(here ?? "")." },
      "shelf.count": .lastWriter,
    ]) {
      $0.stock = 12
      $0.name = "one"
      $0.shelf.count = 4
    } _: {
      $0.stock = 11
      $0.name = "two"
      $0.shelf.count = 2
    }

    #expect(merged?.stock == 12)
    #expect(merged?.name == "two.")
    #expect(merged?.shelf.count == 2)
  }

  @Test(
    "an embedded document that was added began as its initial value, and so did that of a new document"
  )
  func embeddedDefault() async throws {
    for isOld in [true, false] {
      let server = InMemoryRemote()
      func desk() throws -> SyncDesk {
        try SyncDesk(server, collections: [SyncedCollection(Fitted.self)])
      }
      if isOld {
        server.put(RemoteKey("Fitted", "a"), RemoteDocument(#"{"id":"a"}"#), in: "all")
      }
      let desks = [try desk(), try desk()]
      if isOld { for desk in desks { try await desk.sync() } }
      for (number, desk) in desks.enumerated() {
        let all = desk.store.repository(of: Fitted.self)
        var fitted = try all.get("a") ?? Fitted(id: "a")
        fitted.inner.uses += 1
        fitted.flat += 1
        if number == 0 { fitted.inner.labels = ["new"] }
        try await all.save(fitted)
      }
      for desk in desks + desks { try await desk.sync() }

      for desk in desks {
        let fitted = try desk.store.repository(of: Fitted.self).get("a")
        #expect(
          fitted?.flat == 12 && fitted?.inner.uses == 12, "\(isOld): \(String(describing: fitted))")
        #expect(fitted?.inner.labels == ["new"])
        try desk.close()
      }
    }
  }

  @Test("a sum that the property's type cannot hold becomes the larger side, and is saved")
  func overflow() async throws {
    let merged = try await merged {
      $0.small = 100
    } _: {
      $0.small = 90
    }

    #expect(merged?.small == 100)
  }

  @Test(
    "the larger one of two enums is the one with the larger raw value, and nil is less than any",
    arguments: [
      (Grade.highest, Grade.high, Grade.highest), (nil, .low, .low), (.high, nil, .high),
      (.high, .highest, .highest),
    ] as [(Grade?, Grade?, Grade?)])
  func optionalEnum(_ first: Grade?, _ second: Grade?, _ larger: Grade?) async throws {
    // What both began with is neither, so that both have changed it.
    let before: Grade? = first == nil || second == nil ? .highest : nil

    let merged = try await merged([:], Stocked(id: "a", award: before)) {
      $0.award = first
    } _: {
      $0.award = second
    }

    #expect(merged?.award == larger)
  }

  @Test("of a document that two have made, what one left as it was is what the other made of it")
  func madeByBoth() async throws {
    let desks = [try desk(), try desk()]
    try await desks[0].stocked.save(Stocked(id: "a", name: "oats", shelf: Shelf(row: 3)))
    try await desks[1].stocked.save(Stocked(id: "a", award: .high))
    for desk in desks + [desks[0]] { try await desk.sync() }
    for desk in desks {
      let item = try #require(try desk.stocked.get("a"))
      #expect(item.name == "oats" && item.award == .high && item.shelf.row == 3)
    }
    // Both have made something of it: the later one.
    try await desks[0].stocked.save(Stocked(id: "b", name: "oats"))
    try await desks[1].stocked.save(Stocked(id: "b", name: "rye"))
    for desk in desks + [desks[0]] { try await desk.sync() }
    for desk in desks {
      #expect(try desk.stocked.get("b")?.name == "rye")
      try desk.close()
    }
  }

  @Test("in documents of an older version that lacks the field it began with its default")
  func older() async throws {
    // As a version of the app without `stock`, `shops` and `shelf` has written it.
    let old = #"{"id":"a","name":"old","seen":0,"notes":"","small":0,"maybe":null}"#
    let desks = [try desk(), try desk()]
    server.put(key, RemoteDocument(old), in: "all")
    for desk in desks { try await desk.sync() }
    #expect(try desks[0].stocked.get("a")?.stock == 10)
    // One edits the field, the other saves the default with an edit of another field.
    try await desks[0].stocked.update("a") { $0.stock += 2 }
    try await desks[1].stocked.update("a") { $0.name = "new" }
    for desk in desks + [desks[0]] { try await desk.sync() }
    for desk in desks {
      #expect(try desk.stocked.get("a")?.stock == 12)
      #expect(try desk.stocked.get("a")?.name == "new")
    }
    // Both edit it, and neither knows what it was.
    server.put(
      RemoteKey("Stocked", "b"), RemoteDocument(old.replacing(#""a""#, with: #""b""#)), in: "all")
    for desk in desks { try await desk.sync() }
    for (number, desk) in desks.enumerated() {
      try await desk.stocked.update("b") {
        $0.stock += 1
        $0.shops = ["\(number)"]
        $0.shelf.count += 3
      }
    }
    for desk in desks + [desks[0]] { try await desk.sync() }
    for desk in desks {
      let item = try #require(try desk.stocked.get("b"))
      #expect(item.stock == 12)
      #expect(item.shops == ["0", "1"])
      #expect(item.shelf.count == 6)
      try desk.close()
    }
  }

  @Test("a closure that throws leaves a conflict with its reason, and keeps no other document back")
  func throwing() async throws {
    let desks = [try desk(), try desk()]
    try await desks[0].stocked.save([Stocked(id: "a"), Stocked(id: "b")])
    for desk in desks { try await desk.sync() }
    for (number, desk) in desks.enumerated() {
      try await desk.stocked.update("a") { $0.notes = "\(number)!" }
      try await desk.stocked.update("b") { $0.notes = "\(number)" }
      try await desk.sync()
    }

    let conflict = try #require(try desks[1].engine.conflicts().first)

    #expect(conflict.key == key)
    #expect(conflict.reason?.hasPrefix("`notes` cannot be merged: Unreadable") == true)
    #expect(try desks[1].stocked.get("b")?.notes == "0|1")
    #expect(try desks[1].stocked.get("a")?.notes == "1!")
    #expect(desks[1].engine.currentState.conflictCount == 1)
    let error = await #expect(throws: SyncError.self) {
      try await desks[1].engine.settle(key, as: .merged)
    }
    #expect(error?.description.contains("settle it in another way: `notes` cannot") == true)
    #expect(try desks[1].engine.conflicts() == [conflict])
    try await desks[1].engine.settle(key, as: .here)
    for desk in desks.reversed() {
      try await desk.sync()
      #expect(try desk.stocked.get("a")?.notes == "1!")
      try desk.close()
    }
  }

  @Test("a rule whose value the field cannot hold leaves a conflict as well")
  func misfit() async throws {
    let desks = try (0..<2).map { _ in
      try desk(["stock": .custom { (_: Value?, _: Value?, _: Value?) in "many" }])
    }
    try await desks[0].stocked.save(Stocked(id: "a"))
    for desk in desks { try await desk.sync() }
    for (number, desk) in desks.enumerated() {
      try await desk.stocked.update("a") { $0.stock = number }
      try await desk.sync()
    }

    let conflict = try #require(try desks[1].engine.conflicts().first)

    #expect(conflict.reason?.hasPrefix("the merged document cannot be saved: ") == true)
    #expect(try desks[1].stocked.get("a")?.stock == 1)
    for desk in desks { try desk.close() }
  }

  @Test("a collection without a type has the rules that are given, by the names of fields")
  func untyped() async throws {
    let notes = SyncedCollection(
      "Note", keyField: "id", rules: ["count": .counter, "more.tags": .set])
    let desks = try (0..<2).map { _ in try SyncDesk(server, collections: [notes]) }
    func save(_ desk: SyncDesk, _ count: Int64, _ tags: Value) throws {
      try desk.store.collection("Note").save(
        [["id": "1", "count": .integer(count), "more": .document(["tags": tags])]], keyField: "id")
    }
    try save(desks[0], 1, ["a"])
    for desk in desks { try await desk.sync() }
    try save(desks[0], 4, ["a", "b"])
    try save(desks[1], 11, ["c"])
    for desk in desks + [desks[0]] { try await desk.sync() }

    for desk in desks {
      let note = try desk.store.collection("Note").get("1")
      #expect(note?["count"] == 14)
      #expect(note?["more"] == .document(["tags": ["b", "c"]]))
      try desk.close()
    }
  }
}

extension SyncDesk {
  var stocked: StoreRepository<Stocked> { store.repository(of: Stocked.self) }
}

@Document private struct Fitted: Equatable {
  var id: String
  @Merge(.counter) var flat = 10
  var inner = Inner(uses: 10, labels: ["std"])
}

@EmbeddedDocument private struct Inner: Equatable {
  @Merge(.counter) var uses = 0
  @Merge(.set) var labels: [String] = []
}
