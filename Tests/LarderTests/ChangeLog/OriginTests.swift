import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

/// Where a change comes from is an argument of the write, on every path that changes documents.
@Suite struct OriginTests {
  private struct Stop: Error {}

  /// What every repository can do, each time as `origin`: 11 changes.
  private func changeAll<Model: Sendable, Entity: Document>(
    _ repository: any Repository<Model, Entity>, _ models: [Model], _ keys: [Entity.Key],
    as origin: ChangeOrigin
  ) throws {
    let everything = Query<Entity>()
    try repository.save(models[0], as: origin)
    try repository.save(models, as: origin)
    try repository.save([models[1]], clearBeforeSaving: everything, as: origin)
    try repository.save(models, onConflict: .keepExisting, as: origin)
    try repository.delete(keys: [keys[0]], as: origin)
    try repository.delete(everything, as: origin)
    try repository.save(
      models, clearBeforeSaving: nil, onConflict: .merge { _, new in new }, as: origin)
    try repository.eraseAllData(as: origin)
    try repository.save(models[0], as: origin)
    try repository.eraseAllData(as: origin)
  }

  /// The same by the asynchronous functions.
  private func changeAllLater<Model: Sendable, Entity: Document>(
    _ repository: any Repository<Model, Entity>, _ models: [Model], _ keys: [Entity.Key],
    as origin: ChangeOrigin
  ) async throws {
    let everything = Query<Entity>()
    try await repository.save(models[0], as: origin)
    try await repository.save(models, as: origin)
    try await repository.save([models[1]], clearBeforeSaving: everything, as: origin)
    try await repository.save(models, onConflict: .keepExisting, as: origin)
    try await repository.delete(keys: [keys[0]], as: origin)
    try await repository.delete(everything, as: origin)
    try await repository.save(
      models, clearBeforeSaving: nil, onConflict: .merge { _, new in new }, as: origin)
    try await repository.eraseAllData(as: origin)
    try await repository.save(models[0], as: origin)
    try await repository.eraseAllData(as: origin)
  }

  private func checkChanges<Model: Sendable, Entity: Document>(
    _ models: [Model], _ keys: [Entity.Key],
    _ repository: (Store) -> any Repository<Model, Entity>
  ) async throws {
    for origin in ChangeOrigin.allCases {
      try await withTemporaryStore { store in
        try changeAll(repository(store), models, keys, as: origin)
        try await changeAllLater(repository(store), models, keys, as: origin)

        let changes = try store.history().changes
        #expect(changes.count == 2 * 11)
        #expect(changes.allSatisfy { $0.origin == origin })
        #expect(Set(changes.map(\.kind)) == [.inserted, .deleted, .erased])
      }
    }
  }

  @Test("every write of a repository of documents is logged with the origin that it was given")
  func documents() async throws {
    let contacts = ["a", "b"].map { Contact(id: $0, city: "Oslo") }
    try await checkChanges(contacts, contacts.map(\.id)) { store in
      store.repository(of: Contact.self) as any Repository<Contact, Contact>
    }
  }

  @Test("every write of a mapped repository is logged with the origin that it was given")
  func mapped() async throws {
    let models = ["a", "b"].map { SampleModel(id: $0) }
    try await checkChanges(models, models.map(\.id)) { store in
      store.repository(of: Sample.self, mappedBy: SampleMapper())
        as any Repository<SampleModel, Sample>
    }
  }

  @Test("every write of a repository of a plain type is logged with the origin that it was given")
  func plain() async throws {
    let notes = ["a", "b"].map { PlainNote(id: $0, title: $0) }
    try await checkChanges(notes, notes.map(\.id)) { store in
      store.repository(of: PlainNote.self)
        as any Repository<PlainNote, CodableDocument<PlainNote>>
    }
  }

  @Test("every write without a type is logged with the origin that it was given")
  func withoutType() throws {
    try withTemporaryStore { store in
      let contacts = store.collection("Contact")
      let documents: [DynamicDocument] = [["id": .integer(1)], ["id": .integer(2)]]

      try contacts.save(documents, keyField: "id", as: .imported)
      try contacts.delete(keys: [.integer(1)], as: .imported)
      try store.write(as: .imported) { tx in
        try tx.save(documents, in: contacts)
        try tx.eraseAllData(of: contacts)
      }

      let changes = try store.history().changes
      #expect(changes.map(\.kind) == [.inserted, .inserted, .deleted, .inserted, .erased])
      #expect(changes.allSatisfy { $0.origin == .imported })
    }
  }

  @Test("a write is the app's own unless it says otherwise, also after one that was not")
  func byDefault() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "a", city: "Oslo"), as: .sync)
      await #expect(throws: Stop.self) {
        try await store.write(as: .sync) { tx in
          try tx.save(Contact(id: "b", city: "Oslo"))
          throw Stop()
        }
      }

      try await contacts.save(Contact(id: "c", city: "Oslo"))
      try await contacts.delete(keys: ["c"])

      #expect(try store.history().changes.map(\.origin) == [.sync, .local, .local])
    }
  }

  @Test("a body that is run again keeps its origin: its first save declares the type")
  func runAgain() throws {
    try withTemporaryStore { store in
      try store.write(as: .sync) { tx in
        try tx.save(Contact(id: "a", city: "Oslo"))
        try tx.save(Parcel(id: 1))
      }

      #expect(try store.history().changes.map(\.origin) == [.sync, .sync])
    }
  }

  @Test("writes that share a transaction have an origin each, whichever of them throws")
  func together() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Contact.self).save(Contact(id: "first", city: "Oslo"))
      let token = try store.changeToken()
      let origins: [ChangeOrigin] = [.local, .imported, .sync]
      let before = try store.engine.environment.statistics().lastTransactionID

      try await withThrowingTaskGroup(of: Void.self) { group in
        try await LarderTests.together(store) { wait in
          for number in 0..<60 {
            group.addTask {
              let contact = Contact(id: "\(number)", city: "\(origins[number % 3])")
              do {
                // One of seven is of the app itself, and says nothing.
                if number % 7 == 0 {
                  try await store.write { tx in
                    try tx.save(Contact(id: "\(number)", city: "local"))
                  }
                } else {
                  try await store.write(as: origins[number % 3]) { tx in
                    try tx.save(contact)
                    if number % 5 == 0 { throw Stop() }
                  }
                }
              } catch is Stop {}
            }
            await wait(number + 1)
          }
        }
        try await group.waitForAll()
      }

      #expect(try store.engine.environment.statistics().lastTransactionID == before + 1)
      let changes = try store.history(since: token).changes
      let contacts = try store.repository(of: Contact.self).fetch(Contact.all)
      let cities = Dictionary(uniqueKeysWithValues: contacts.map { (Value.string($0.id), $0.city) })
      #expect(changes.count == 60 - 10)
      for change in changes { #expect(cities[change.key] == "\(change.origin)") }
    }
  }
}
