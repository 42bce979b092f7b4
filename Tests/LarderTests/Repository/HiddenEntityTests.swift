import Foundation
import Larder
import LarderModels
import LarderTesting
import Testing

@Suite struct HiddenEntityTests {
  private let astrid = SellerContact(id: "seller-1", name: "Astrid", city: "Oslo", phone: "22 1")
  private let bjorn = SellerContact(id: "seller-2", name: "Bjørn", city: "Bergen")

  private typealias Contacts = any ModelRepository<SellerContact, SellerContactsRequest>

  /// The same for a repository of a store and for one in memory.
  private func withEach(
    _ body: (
      Contacts, any Repository<SellerContact, SellerContactEntity>
    ) async throws -> Void
  ) async throws {
    let mapper = SellerContactMapper()
    try await withTemporaryStore { store in
      let stored = store.repository(of: SellerContactEntity.self, mappedBy: mapper)
      try await body(stored.hidingEntity(mapper.query(for:)), stored)
    }
    let inMemory: any Repository<SellerContact, SellerContactEntity> = InMemoryRepository(
      of: SellerContactEntity.self, mappedBy: mapper)
    try await body(inMemory.hidingEntity(mapper.query(for:)), inMemory)
  }

  @Test("a request is answered by the query that the mapper makes of it")
  func requests() async throws {
    try await withEach { contacts, repository in
      let saved = try await contacts.save([bjorn, astrid])
      let again = try await contacts.save([bjorn, astrid])

      #expect(saved == 2)
      #expect(again == 0)
      #expect(try contacts.fetch(.everyone) == [astrid, bjorn])
      #expect(try contacts.fetch(.inCity("Oslo")) == [astrid])
      #expect(try contacts.count(.inCity("Bergen")) == 1)
      #expect(try contacts.get("seller-2") == bjorn)
      #expect(try contacts.get("seller-3") == nil)
      #expect(try SellerContactsService(contacts: contacts).inCity("Bergen") == [bjorn])
    }
  }

  @Test("an edit through requests writes the user's fields, and a refresh does not")
  func editsAndRefreshes() async throws {
    try await withEach { contacts, repository in
      let inserted = try await contacts.refresh([astrid, bjorn], replacing: nil)
      let edited = try await contacts.update("seller-1") { $0.isFavourite = true }
      let missing = try await contacts.update("seller-3") { _ in Issue.record("it ran") }
      let refreshed = try await contacts.refresh([astrid], replacing: .everyone)

      #expect(inserted == 2)
      #expect(edited?.isFavourite == true)
      #expect(missing == nil)
      #expect(refreshed == 1)  // One deleted, none changed.
      #expect(try contacts.fetch(.everyone) == [edited])
      let deleted = try await contacts.delete(["seller-1", "seller-2"])
      #expect(deleted == 1)
    }
  }

  @Test("a refresh is no change of the app's own: an outbox does not send it back")
  func origins() async throws {
    try await withTemporaryStore { store in
      let mapper = SellerContactMapper()
      let contacts = store.repository(of: SellerContactEntity.self, mappedBy: mapper)
        .hidingEntity(mapper.query(for:))
      try await contacts.refresh([astrid], replacing: nil)
      try await contacts.update("seller-1") { $0.isFavourite = true }
      try await contacts.save([bjorn])
      try await contacts.refresh([], replacing: .inCity("Bergen"))

      #expect(try store.history().changes.map(\.origin) == [.sync, .local, .local, .sync])
    }
  }

  @Test("a request that asks for a part of what it matches cannot be replaced")
  func limitedRequest() async throws {
    struct First: Sendable { var count: Int }
    let repository = InMemoryRepository(
      of: SellerContactEntity.self, mappedBy: SellerContactMapper())
    let contacts: any ModelRepository<SellerContact, First> = repository.hidingEntity {
      SellerContactEntity.all.limit($0.count)
    }
    try await contacts.save([astrid, bjorn])

    await #expect(throws: StoreError.self) {
      try await contacts.refresh([], replacing: First(count: 1))
    }

    #expect(try contacts.fetch(First(count: 1)) == [astrid])
    #expect(try contacts.count(First(count: 9)) == 2)
  }

  @Test("the values of a request begin with what is kept, and follow what becomes of it")
  func values() async throws {
    try await withEach { contacts, repository in
      try await contacts.save([astrid])
      var seen: [[SellerContact]] = []

      for try await values in contacts.values(of: .inCity("Oslo")) {
        seen.append(values)
        switch seen.count {
        case 1: try await contacts.update("seller-1") { $0.name = "Åse" }
        case 2: try await contacts.delete(["seller-1"])
        default: break
        }
        if seen.count == 3 { break }
      }

      #expect(seen.map { $0.map(\.name) } == [["Astrid"], ["Åse"], []])
    }
  }

  /// A double as the author of a service would write it, with neither a store nor a mapper.
  private actor Double: ModelRepository {
    nonisolated let model: SellerContact

    init(_ model: SellerContact) { self.model = model }

    nonisolated func get(_ id: String) throws -> SellerContact? { model.id == id ? model : nil }
    nonisolated func fetch(_ request: SellerContactsRequest) throws -> [SellerContact] { [model] }
    nonisolated func count(_ request: SellerContactsRequest) throws -> Int { 1 }

    nonisolated func values(
      of request: SellerContactsRequest
    ) -> any AsyncSequence<[SellerContact], any Error> & Sendable {
      AsyncThrowingStream<[SellerContact], any Error> { [model] in
        $0.yield([model])
        $0.finish()
      }
    }

    func save(_ models: [SellerContact]) -> Int { 0 }

    func update(
      _ id: String, _ body: @escaping @Sendable (inout SellerContact) throws -> Void
    ) throws -> SellerContact? {
      var changed = model
      try body(&changed)
      return changed
    }

    func delete(_ ids: [String]) -> Int { 0 }
    func refresh(_ models: [SellerContact], replacing request: SellerContactsRequest?) -> Int { 0 }
  }

  @Test("a service takes a double that knows neither Larder nor an entity")
  func double() throws {
    let service = SellerContactsService(contacts: Double(astrid))

    #expect(try service.inCity("anywhere") == [astrid])
  }
}
