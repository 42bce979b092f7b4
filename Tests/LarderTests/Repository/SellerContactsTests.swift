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
    let source = try String(
      contentsOf: here.appending(path: "SellerContacts.swift"), encoding: .utf8)
    let article = try String(
      contentsOf: here.appending(
        path: "../../../Sources/Larder/Documentation.docc/Mappers.md"
      ).standardizedFileURL, encoding: .utf8)

    let shown = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }

    #expect(shown.count == 5)
    for code in shown { #expect(source.contains(code), "\(code)") }
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

  @Test("a service takes a repository in memory as well as one of a store")
  func injected() throws {
    let contacts = InMemoryRepository(
      of: SellerContactEntity.self, mappedBy: SellerContactMapper())
    let service = SellerContactsService(contacts: contacts)
    try contacts.save([astrid, bjorn])

    #expect(try service.inCity("Bergen") == [bjorn])
  }

  @Test("what a provider takes is no change of the app's own: an outbox does not send it back")
  func providedOrigin() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: SellerContactEntity.self, mappedBy: SellerContactMapper())
      try await contacts.save(astrid)
      let provider = DataProvider(contacts) { [bjorn] in [bjorn] }

      try await provider.refresh(clearBeforeSaving: SellerContactEntity.all)

      let changes = try store.history().changes
      #expect(changes.map(\.origin) == [.local, .sync, .sync])
      #expect(try store.history(origins: [.local]).changes.map(\.kind) == [.inserted])
    }
  }

  @Test("a source that fails leaves the repository as it was")
  func failingSource() async throws {
    struct Offline: Error {}
    let contacts = InMemoryRepository(
      of: SellerContactEntity.self, mappedBy: SellerContactMapper())
    try await contacts.save(astrid)
    let provider = DataProvider(contacts) { throw Offline() }

    await #expect(throws: Offline.self) {
      try await provider.refresh(clearBeforeSaving: SellerContactEntity.all)
    }

    #expect(try provider.repository.fetch(SellerContactEntity.all) == [astrid])
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
            try await contacts.save(changed)
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
