import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

/// Mapped saves that are written piece by piece, held to what a repository in memory does at once.
@Suite(.timeLimit(.minutes(20))) struct LargeMappedSaveTests {
  private static let count = 2500

  enum Order: CaseIterable { case ascending, shuffled, withRepeatedKeys }
  enum Policy: CaseIterable { case replace, keepExisting, sum }

  private func models(_ order: Order, _ random: inout RandomSource) -> [SampleModel] {
    var ids = (0..<Self.count).map { String(format: "%06d", 2 * $0) }
    switch order {
    case .ascending: break
    case .shuffled: ids.shuffle(using: &random)
    case .withRepeatedKeys:
      ids = (0..<Self.count).map { _ in String(format: "%06d", random.int(0..<900)) }
    }
    return ids.map {
      SampleModel(id: $0, group: "red", rank: random.int(0..<3), label: "\(random.int(0..<3))")
    }
  }

  @Test(
    "what is saved piece by piece is what is saved at once, in any order of the keys",
    arguments: Order.allCases, Policy.allCases)
  func pieces(_ order: Order, _ policy: Policy) throws {
    var random = RandomSource()
    let conflicts: ConflictPolicy<SampleModel> =
      switch policy {
      case .replace: .replace
      case .keepExisting: .keepExisting
      case .sum:
        .merge { stored, new in
          var sum = new
          sum.rank += stored.rank
          return sum
        }
      }
    try withTemporaryStore { store in
      let stored = store.repository(of: Sample.self, mappedBy: SampleMapper())
      let inMemory = InMemoryRepository(of: Sample.self, mappedBy: SampleMapper())
      // What was there: some of what comes, and what stands between it.
      let before = (0..<1500).map { SampleModel(id: String(format: "%06d", 3 * $0), rank: 1) }
      try stored.save(before)
      try inMemory.save(before)
      for origin in [ChangeOrigin.local, .sync] {
        let models = models(order, &random)

        let found = try stored.save(models, onConflict: conflicts, as: origin)

        let expected = try inMemory.save(models, onConflict: conflicts, as: origin)
        #expect(found == expected, "\(random.hint)")
        let isEqual = try stored.fetch(Sample.all) == inMemory.fetch(Sample.all)
        #expect(isEqual, "\(random.hint)")
      }
    }
  }

  @Test(
    "a model that cannot be saved undoes what was written before it", arguments: [1, 2000])
  func refused(_ place: Int) throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let samples = store.repository(of: Sample.self, mappedBy: SampleMapper())
      try samples.save(SampleModel(id: "before"))
      let sequence = try store.statistics().sequence
      var models = models(.shuffled, &random)
      for id in ["", String(repeating: "k", count: 256)] {
        models[place].id = id

        #expect(throws: StoreError.self) { try samples.save(models) }

        #expect(try samples.count() == 1)
        #expect(try store.statistics().sequence == sequence)
      }
    }
  }

  @Test("where an index refuses a model the transaction goes on without any of its save")
  func uniqueValues() throws {
    struct ParcelMapper: EntityMapper {
      func convert(_ entity: Parcel) -> Parcel? { entity }
      func newEntity(for model: Parcel) -> Parcel { model }
      func update(_ entity: inout Parcel, by model: Parcel) { entity = model }
      func entityAccessorKey(_ model: Parcel) -> Int { model.id }
    }
    try withTemporaryStore { store in
      let parcels = (0..<Self.count).map { Parcel(id: $0, code: "\($0)", note: "") }
      var refused = Array(parcels.reversed())
      refused[0].code = "3"

      try store.write { [refused] tx in
        try tx.save(Parcel(id: -1, code: "-1", note: ""))
        #expect(throws: StoreError.self) { try tx.save(refused, mappedBy: ParcelMapper()) }
        try tx.save(parcels.reversed(), mappedBy: ParcelMapper())
      }

      #expect(try store.repository(of: Parcel.self).count() == Self.count + 1)
    }
  }

  @Test("many models of an entity that is not declared yet are saved by their first save")
  func undeclared() async throws {
    var random = RandomSource()
    try await withTemporaryStore { store in
      let samples = store.repository(of: Sample.self, mappedBy: SampleMapper())
      let models = models(.shuffled, &random)

      let report = try await samples.save(models)

      #expect(report.inserted == Self.count)
      #expect(try samples.fetch(Sample.all).map(\.id) == models.map(\.id).sorted())
    }
  }
}
