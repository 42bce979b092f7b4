import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct MappedRepositoryTests {
  /// Maps badly: its updates give an entity another key.
  private struct RenamingMapper: EntityMapper {
    func convert(_ entity: Sample) -> SampleModel? { SampleMapper().convert(entity) }
    func newEntity(for model: SampleModel) -> Sample { SampleMapper().newEntity(for: model) }
    func update(_ entity: inout Sample, by model: SampleModel) { entity.id += "-renamed" }
    func entityAccessorKey(_ model: SampleModel) -> String { model.id }
  }

  @Test("a mapper that changes the key is found out, and nothing is saved")
  func renaming() throws {
    try withTemporaryStore { store in
      let mapped = store.repository(of: Sample.self, mappedBy: RenamingMapper())
      let inMemory = InMemoryRepository(of: Sample.self, mappedBy: RenamingMapper())
      for repository in [mapped, inMemory] as [any Repository<SampleModel, Sample>] {
        #expect(
          throws: StoreError.keyChanged(
            collection: "Sample", key: "\"a\"", found: "\"a-renamed\"")
        ) { try repository.save(SampleModel(id: "a")) }
        let count = try repository.count()
        #expect(count == 0)
      }
    }
  }

  /// Writes an entity's key in another way than the model does.
  private struct RespellingMapper: EntityMapper {
    let spelling: @Sendable (String) -> String

    func convert(_ entity: Sample) -> SampleModel? { SampleMapper().convert(entity) }

    func newEntity(for model: SampleModel) -> Sample {
      Sample(id: spelling(model.id), firstGroup: model.group)
    }

    func update(_ entity: inout Sample, by model: SampleModel) {
      SampleMapper().update(&entity, by: model)
      entity.id = spelling(model.id)
    }

    func entityAccessorKey(_ model: SampleModel) -> String { model.id }
    func entityAccessorKey(_ entity: Sample) -> String { String(entity.id.reversed().reversed()) }
  }

  @Test(
    "keys are the same if they are encoded alike, wherever they lie in memory",
    arguments: [10, 3000])
  func respelled(_ count: Int) throws {
    let respelled = RespellingMapper { $0.decomposedStringWithCanonicalMapping }
    let cut = RespellingMapper { String($0.dropLast()) }
    let id = { (number: Int) in "a key that is too long to be small, caf\u{E9} \(number + 10_000)" }
    let models = (0..<count).map { SampleModel(id: id($0), rank: $0) }
    try withTemporaryStore { store in
      let samples = store.repository(of: Sample.self, mappedBy: respelled)

      let first = try samples.save(models)
      let second = try samples.save(models)

      #expect(first.inserted == count && second.unchanged == count)
      #expect(try samples.get(id(7))?.rank == 7)
      let error = StoreError.keyChanged(
        collection: "Sample", key: "\"\(id(0))\"", found: "\"\(id(0).dropLast())\"")
      #expect(throws: error) {
        try store.repository(of: Sample.self, mappedBy: cut).save(models)
      }
    }
  }

  @Test("a mapper that changes one key among many is named with that key, and nothing is saved")
  func renamingOne() throws {
    struct OneRenamingMapper: EntityMapper {
      func convert(_ entity: Sample) -> SampleModel? { SampleMapper().convert(entity) }
      func newEntity(for model: SampleModel) -> Sample { SampleMapper().newEntity(for: model) }

      func update(_ entity: inout Sample, by model: SampleModel) {
        if model.rank == 2_345 { entity.id += "-renamed" }
      }

      func entityAccessorKey(_ model: SampleModel) -> String { model.id }
    }
    try withTemporaryStore { store in
      let mapped = store.repository(of: Sample.self, mappedBy: OneRenamingMapper())
      let models = (0..<3_000).map { SampleModel(id: "\($0 + 10_000)", rank: $0) }
      let error = StoreError.keyChanged(
        collection: "Sample", key: "\"12345\"", found: "\"12345-renamed\"")

      for models in [models, models.reversed()] {
        #expect(throws: error) { try mapped.save(models) }
        let count = try mapped.count()
        #expect(count == 0)
      }
    }
  }

  /// Finds an entity's key in a way of its own.
  private struct KeyedMapper: EntityMapper {
    let suffix: String
    let asked = Locked(0)

    func convert(_ entity: Sample) -> SampleModel? { SampleMapper().convert(entity) }
    func newEntity(for model: SampleModel) -> Sample { SampleMapper().newEntity(for: model) }

    func update(_ entity: inout Sample, by model: SampleModel) {
      SampleMapper().update(&entity, by: model)
    }

    func entityAccessorKey(_ model: SampleModel) -> String { model.id }

    func entityAccessorKey(_ entity: Sample) -> String {
      asked.withLock { $0 += 1 }
      return entity.id + suffix
    }
  }

  @Test("a mapper's own key of an entity is asked for, and must be the one that it is stored under")
  func ownKey() throws {
    try withTemporaryStore { store in
      for suffix in ["", "-other"] {
        let mapper = KeyedMapper(suffix: suffix)
        let mapped = store.repository(of: Sample.self, mappedBy: mapper)
        let inMemory = InMemoryRepository(of: Sample.self, mappedBy: mapper)
        for repository in [mapped, inMemory] as [any Repository<SampleModel, Sample>] {
          let before = mapper.asked.withLock { $0 }
          if suffix.isEmpty {
            try repository.save(SampleModel(id: "a"))
            try repository.update("a") { $0.rank = 1 }
            #expect(mapper.asked.withLock { $0 } == before + 2)
          } else {
            let error = StoreError.keyChanged(
              collection: "Sample", key: "\"a\"", found: "\"a-other\"")
            #expect(throws: error) { try repository.save(SampleModel(id: "a", rank: 2)) }
          }
        }
        #expect(try mapped.get("a")?.rank == 1)
      }
    }
  }

  @Test("an update keeps fields that a newer version of the type has stored, however it is mapped")
  func unknownFields() throws {
    struct ShortFreightMapper: EntityMapper {
      func convert(_ entity: ShortCargo) -> Freight? { Freight(id: entity.id, text: entity.text) }
      func newEntity(for model: Freight) -> ShortCargo { ShortCargo(id: model.id, text: "") }
      func update(_ entity: inout ShortCargo, by model: Freight) { entity.text = model.text }
      func entityAccessorKey(_ model: Freight) -> Int { model.id }
    }
    try withTemporaryStore { store in
      let cargo = store.repository(of: Cargo.self)
      try cargo.save((1...3).map { Cargo(id: $0, place: 7, text: "old") })

      let documents = store.repository(of: ShortCargo.self)
      let mapped = store.repository(of: ShortCargo.self, mappedBy: ShortFreightMapper())
      let plain = store.repository(of: ShortCargo.self, collection: "Cargo")
      try documents.update(1) { $0.text = "new" }
      try mapped.update(2) { $0.text = "new" }
      try plain.update(3) { $0.text = "new" }

      #expect(try cargo.fetch(Cargo.all).map(\.text) == ["new", "new", "new"])
      #expect(try cargo.fetch(Cargo.all).map(\.place) == [7, 7, 7])
    }
  }

  @Test("an update of what is not there makes no collection and writes nothing")
  func absent() throws {
    try withTemporaryStore { store in
      let mapped = store.repository(of: Sample.self, mappedBy: SampleMapper())
      let plain = store.repository(of: CodableSample.self)

      let missingModel = try mapped.update("a") { _ in Issue.record("it ran") }
      let missingValue = try plain.update("a") { _ in Issue.record("it ran") }
      let missing = try store.repository(of: Sample.self).update("a") { $0.rank = 1 }

      #expect(missingModel == nil && missingValue == nil && missing == nil)
      #expect(try store.collectionNames() == [])
    }
  }

  /// Changes its mind: it has a model for an entity when it is asked the first time, and then none.
  private final class FickleMapper: EntityMapper {
    private let asked = Locked<Set<String>>([])

    func convert(_ entity: Sample) -> SampleModel? {
      asked.withLock { $0.insert(entity.id).inserted } ? SampleMapper().convert(entity) : nil
    }

    func newEntity(for model: SampleModel) -> Sample { SampleMapper().newEntity(for: model) }

    func update(_ entity: inout Sample, by model: SampleModel) {
      SampleMapper().update(&entity, by: model)
    }

    func entityAccessorKey(_ model: SampleModel) -> String { model.id }
  }

  @Test("a mapper that contradicts itself is named as what is wrong, and no index is")
  func contradiction() async throws {
    try await withTemporaryStore { store in
      let samples = store.repository(of: Sample.self)
      let models = store.repository(of: Sample.self, mappedBy: FickleMapper())
      try await samples.save(Sample(id: "a"))
      var changes = models.watch(Sample.all).makeAsyncIterator()
      _ = try await changes.next()

      try await samples.save(Sample(id: "b"))

      let error = StoreError.inconsistentMapper(collection: "Sample", key: "\"b\"")
      await #expect(throws: error) { try await changes.next() }
      #expect("\(error)".contains("`convert`"))
      #expect(!error.isDamage)
    }
  }

  @Test("entities and models of one collection see each other")
  func sharing() throws {
    try withTemporaryStore { store in
      let models = store.repository(of: Sample.self, mappedBy: SampleMapper())
      let entities = store.repository(of: Sample.self)
      try models.save([SampleModel(id: "a", group: "red"), SampleModel(id: "b", isHidden: true)])

      #expect(try entities.count() == 2)
      #expect(try models.count() == 1)
      #expect(try entities.get("a")?.firstGroup == "red")
      #expect(try store.read { try $0.fetch(Sample.all, mappedBy: SampleMapper()) }.count == 1)
    }
  }

  @Test("models are saved beside documents in one transaction, or not at all")
  func oneTransaction() throws {
    struct Stop: Error {}
    try withTemporaryStore { store in
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.save(Contact(id: "c", city: "Oslo", tags: []))
          try tx.save([SampleModel(id: "a")], mappedBy: SampleMapper())
          throw Stop()
        }
      }
      let contactCount = try store.repository(of: Contact.self).count()
      #expect(contactCount == 0)
      #expect(try store.repository(of: Sample.self).count() == 0)
    }
  }

  @Test("an unchanged model wakes nobody: no sequence number is taken")
  func unchanged() throws {
    try withTemporaryStore { store in
      let models = store.repository(of: Sample.self, mappedBy: SampleMapper())
      try models.save(SampleModel(id: "a", group: "red"))
      let sequence = try store.statistics().sequence

      #expect(try models.save(SampleModel(id: "a", group: "red")).unchanged == 1)
      #expect(try models.save([], clearBeforeSaving: Sample.where { $0.rank > 9 }).changed == 0)
      #expect(try store.statistics().sequence == sequence)
    }
  }

  @Test("a save of a closed store is refused")
  func closed() throws {
    let store = try Store.temporary()
    let models = store.repository(of: Sample.self, mappedBy: SampleMapper())
    try store.close()

    #expect(throws: StoreError.closed) { try models.save(SampleModel(id: "a")) }
    #expect(throws: StoreError.closed) { try models.count() }
  }

  @Test("a write inside a save is refused alike by a store and in memory, and reads are not")
  func nested() throws {
    try withTemporaryStore { store in
      let stored = store.repository(of: Sample.self)
      let inMemory = InMemoryRepository(of: Sample.self)
      for repository in [stored, inMemory] as [any Repository<Sample, Sample>] {
        try repository.save(Sample(id: "a"))
        #expect(throws: StoreError.nestedWrite) {
          try repository.save(
            [Sample(id: "a", rank: 1)],
            onConflict: .merge { _, new in
              #expect(try repository.get("a")?.rank == 0)
              try repository.save(Sample(id: "b"))
              return new
            })
        }
        #expect(try repository.fetch(Sample.all) == [Sample(id: "a")])
      }
    }
  }

  @Test("merges of many tasks are never lost, in a store and in memory")
  func concurrentMerges() async throws {
    try await withTemporaryStore { store in
      let stored = store.repository(of: Sample.self)
      let inMemory = InMemoryRepository(of: Sample.self)
      for repository in [stored, inMemory] as [any Repository<Sample, Sample>] {
        try await withThrowingTaskGroup(of: SaveReport.self) { group in
          for _ in 0..<200 {
            group.addTask {
              try await repository.save(
                [Sample(id: "a", rank: 1)],
                onConflict: .merge { stored, new in
                  Thread.sleep(forTimeInterval: 0.0001)  // Time for others to come between.
                  return Sample(id: new.id, rank: stored.rank + new.rank)
                })
            }
          }
          try await group.waitForAll()
        }
        #expect(try repository.get("a")?.rank == 200)
      }
    }
  }

  @Test("an entity that is damaged is neither replaced by a model nor lost")
  func damaged() throws {
    let folder = TestFolder()
    let models = { (store: Store) in store.repository(of: Sample.self, mappedBy: SampleMapper()) }
    let first = try Store(at: folder.store)
    try models(first).save([SampleModel(id: "a", group: "red"), SampleModel(id: "b")])
    try first.close()
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: Layout.documentsName(of: "Sample"), create: false))
      try flip(in: environment, database, key: Array("a".utf8), at: -1)
    }
    let store = try Store(at: folder.store)
    let refused = StoreError.damagedRecord(collection: "Sample", key: "\"a\"", reason: .checksum)

    #expect(throws: refused) {
      try models(store).save([SampleModel(id: "b", rank: 1), SampleModel(id: "a")])
    }
    #expect(throws: refused) { try store.write { try $0.upsert(Sample(id: "a")) } }
    #expect(throws: refused) { try store.write { try $0.update(Sample.self, "a") { _ in } } }
    let kept = try models(store).save([SampleModel(id: "a")], onConflict: .keepExisting)

    #expect(kept.unchanged == 1)
    #expect(try models(store).get("b")?.rank == 0)
    #expect(throws: refused) { try models(store).get("a") }
    #expect(try models(store).delete(keys: ["a"]) == 1)
    #expect(try models(store).save(SampleModel(id: "a")).inserted == 1)
    try verifyAndClose(store)
  }
}
