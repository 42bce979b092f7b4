import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct SellerContactsTests {
  private let astrid = SellerContact(id: "seller-1", name: "Astrid", city: "Oslo", phone: "22 1")
  private let bjorn = SellerContact(id: "seller-2", name: "Bjørn", city: "Bergen")

  @Test("the program in the article on mappers is the one that is tested")
  func isTheSame() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let sources = try ["SellerContacts.swift", "SellerContactsService.swift"].map {
      try String(contentsOf: here.appending(path: $0), encoding: .utf8)
    }
    let article = try String(
      contentsOf: here.appending(
        path: "../../../Sources/Larder/Documentation.docc/Mappers.md"
      ).standardizedFileURL, encoding: .utf8)

    let shown = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    let program = shown.filter { !Self.lines.contains($0) }

    #expect(program.count == 7)
    #expect(shown.count == program.count + Self.lines.count)
    for code in program { #expect(sources.contains { $0.contains(code) }, "\(code)") }
  }

  /// What the article shows by itself; ``changedByLine()`` and `FileRepository` do the same.
  private static let lines = [
    "let changed = try await contacts.update(\"seller-1\") { $0.city = \"Bergen\" }\n",
    "func fetch(_ query: Query<Note>) throws -> [Note] { try query.results(of: notesInFile) }\n",
  ]

  @Test("the part of the article's program that asks does not import Larder")
  func importsNoLarder() throws {
    let source = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "SellerContactsService.swift"), encoding: .utf8)

    let imports = source.split(separator: "\n").filter { $0.contains("import ") }

    #expect(imports == ["import LarderModels"])
  }

  @Test("the line that the article shows for one model changes that one")
  func changedByLine() async throws {
    let contacts = InMemoryRepository(
      of: SellerContactEntity.self, mappedBy: SellerContactMapper())
    try await contacts.save([astrid, bjorn])

    let changed = try await contacts.update("seller-1") { $0.city = "Bergen" }

    #expect(changed?.city == "Bergen")
    #expect(try contacts.fetch(SellerContactEntity.all).map(\.city) == ["Bergen", "Bergen"])
  }

  @Test("a server's answer keeps what only the device knows")
  func example() async throws {
    try await withTemporaryStore { store in
      let page = [astrid, bjorn]

      let oslo = try await sellers(in: store) { page }

      var favourite = astrid
      favourite.isFavourite = true
      #expect(oslo == [favourite])
    }
  }

  @Test("an edit is kept however it is saved, and a refresh leaves it alone")
  func favourites() async throws {
    try await withTemporaryStore { store in
      let stored = store.repository(of: SellerContactEntity.self, mappedBy: SellerContactMapper())
      let inMemory = InMemoryRepository(
        of: SellerContactEntity.self, mappedBy: SellerContactMapper())
      for contacts in [stored, inMemory] as [any Repository<SellerContact, SellerContactEntity>] {
        try await contacts.save([astrid, bjorn], as: .sync)
        var mine = astrid
        mine.isFavourite = true

        let saved = try await contacts.save(mine)
        let updated = try await contacts.update("seller-2") { $0.isFavourite = true }
        var moved = astrid
        moved.city = "Bergen"
        let refreshed = try await contacts.save(
          [moved, bjorn], clearBeforeSaving: SellerContactEntity.all, as: .sync)

        #expect(saved.updated == 1)
        #expect(updated?.isFavourite == true)
        #expect(refreshed.updated == 1 && refreshed.unchanged == 1)
        let read = try contacts.fetch(SellerContactEntity.all)
        #expect(read.map(\.isFavourite) == [true, true])
        #expect(read.map(\.city) == ["Bergen", "Bergen"])
      }
    }
  }

  @Test("what is saved as a pull is no change of the app's own: an outbox does not send it back")
  func pulledOrigin() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: SellerContactEntity.self, mappedBy: SellerContactMapper())
      try await contacts.save(astrid)

      try await contacts.save([bjorn], clearBeforeSaving: SellerContactEntity.all, as: .sync)

      let changes = try store.history().changes
      #expect(changes.map(\.origin) == [.local, .sync, .sync])
      #expect(try store.history(origins: [.local]).changes.map(\.kind) == [.inserted])
    }
  }

  @Test("what a mapped save reads and writes is one transaction, whoever saves beside it")
  func concurrentUpdates() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: SellerContactEntity.self, mappedBy: SellerContactMapper())
      try await contacts.save(astrid)

      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          group.addTask {
            var changed = astrid
            changed.phone = "\(number)"
            try await contacts.save(changed, as: .sync)
          }
          group.addTask {
            _ = try await store.write { tx in
              try tx.update(SellerContactEntity.self, "seller-1") { $0.isFavourite.toggle() }
            }
          }
          group.addTask {
            try await contacts.save(
              [astrid],
              onConflict: .merge { stored, _ in
                var merged = stored
                merged.city += "."
                return merged
              })
          }
        }
        try await group.waitForAll()
      }

      // 50 turns.
      #expect(try contacts.get("seller-1")?.isFavourite == false)
      #expect(try contacts.count() == 1)
    }
  }
}
