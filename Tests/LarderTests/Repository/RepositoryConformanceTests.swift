import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct RepositoryConformanceTests {
  private let conformance: RepositoryConformance

  init() {
    let source = RandomSource()
    conformance = RepositoryConformance(seed: source.seed)
  }

  /// Stores are let go of, and checked, when the conformance has been.
  private func withStores(
    _ body: (_ make: () throws -> Store) async throws -> Void
  ) async throws {
    var stores: [Store] = []
    try await body {
      let store = try Store.temporary()
      stores.append(store)
      return store
    }
    for store in stores { try verifyAndClose(store) }
  }

  @Test("a repository of a store behaves as every repository does")
  func store() async throws {
    try await withStores { make in
      try await conformance.check { try make().repository(of: Sample.self) }
    }
  }

  @Test("a repository in memory behaves as every repository does")
  func inMemory() async throws {
    try await conformance.check { InMemoryRepository(of: Sample.self) }
  }

  @Test("a mapped repository of a store behaves as every repository does")
  func mappedStore() async throws {
    try await withStores { make in
      try await conformance.checkMapped {
        try make().repository(of: Sample.self, mappedBy: SampleMapper())
      }
    }
  }

  @Test("a mapped repository in memory behaves as every repository does")
  func mappedInMemory() async throws {
    try await conformance.checkMapped {
      InMemoryRepository(of: Sample.self, mappedBy: SampleMapper())
    }
  }

  @Test("a repository of a plain Codable type behaves as every repository does")
  func plainStore() async throws {
    try await withStores { make in
      try await conformance.checkCodable { try make().repository(of: CodableSample.self) }
    }
  }

  @Test("a repository of a plain Codable type in memory behaves as every repository does")
  func plainInMemory() async throws {
    try await conformance.checkCodable { InMemoryRepository(of: CodableSample.self) }
  }

  @Test("a repository that is no part of Larder can behave as every repository does")
  func foreign() async throws {
    let folder = TestFolder()
    var count = 0
    try await conformance.checkCodable {
      count += 1
      return FileRepository<CodableSample>(folder.url.appending(path: "\(count).json"))
    }
  }

  @Test(
    "what a repository does wrong is found, and said in a sentence",
    arguments: Flaw.allCases)
  func flaws(_ flaw: Flaw) async throws {
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await conformance.check { FlawedRepository(flaw: flaw) }
    }
    #expect(failure?.description.contains(flaw.sentence) == true)
  }
}

enum Flaw: CaseIterable {
  case ignoresLimit, countsUnchangedAsUpdated, clearsBothSets, allowsLimitInDelete
  case returnsKeysSorted, forgetsConflicts, losesDuplicates
  case keepsHalfUpdates, renamesInUpdates, updatesWhatItHasUpdated, keepsHalfOfQueries
  case ignoresCancellation

  /// Part of what is said about it.
  var sentence: String {
    switch self {
    case .ignoresLimit: "then offset and limit"
    case .countsUnchangedAsUpdated: "saving it again changes nothing"
    case .clearsBothSets: "nothing of its save kept"
    case .allowsLimitInDelete: "where the whole match is meant is refused"
    case .returnsKeysSorted: "in that of the keys asked for"
    case .forgetsConflicts: "keeps what exists"
    case .losesDuplicates: "the others are duplicates"
    case .updatesWhatItHasUpdated: "each model once, in its order"
    case .keepsHalfOfQueries: "throws for one of them changes none"
    case .keepsHalfUpdates, .renamesInUpdates: "an update that throws, or changes the key"
    case .ignoresCancellation: "cancelled before its save begins"
    }
  }
}

/// A repository in memory with one mistake. All have the last one: with no asynchronous functions of
/// its own, it does not see that a task was cancelled.
struct FlawedRepository: Repository {
  let flaw: Flaw
  private let sound = InMemoryRepository(of: Sample.self)

  init(flaw: Flaw) { self.flaw = flaw }

  func save(
    _ models: [Sample], clearBeforeSaving query: Query<Sample>?,
    onConflict policy: ConflictPolicy<Sample>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    var query = query
    var policy = policy
    var report = SaveReport()
    if flaw == .clearsBothSets, let cleared = query {
      report.deleted = try sound.delete(cleared, as: origin)
      query = nil
    }
    if flaw == .forgetsConflicts { policy = .replace }
    report += try sound.save(
      models, clearBeforeSaving: query, onConflict: policy, as: origin)
    if flaw == .losesDuplicates { report.duplicates = 0 }
    if flaw == .countsUnchangedAsUpdated {
      report.updated += report.unchanged
      report.unchanged = 0
    }
    return report
  }

  func update(
    _ key: String, as origin: ChangeOrigin, _ body: (inout Sample) throws -> Void
  ) throws -> Sample? {
    switch flaw {
    case .keepsHalfUpdates:
      guard var model = try sound.get(key) else { return nil }
      defer { _ = try? sound.save(model, as: origin) }
      try body(&model)
      return model
    case .renamesInUpdates:
      guard var model = try sound.get(key) else { return nil }
      try body(&model)
      try sound.save(model, as: origin)
      return model
    default: return try sound.update(key, as: origin, body)
    }
  }

  func update(
    _ query: Query<Sample>, as origin: ChangeOrigin, _ body: (inout Sample) throws -> Void
  ) throws -> SaveReport {
    switch flaw {
    case .updatesWhatItHasUpdated:
      // Asks anew for each, behind what it has changed.
      var report = SaveReport()
      for _ in try sound.fetch(query) {
        guard let model = try sound.fetch(query).first else { break }
        report += try sound.update(Sample.where { $0.id == model.id }, as: origin, body)
      }
      return report
    case .keepsHalfOfQueries:
      var report = SaveReport()
      for model in try sound.fetch(query) {
        report += try sound.update(Sample.where { $0.id == model.id }, as: origin, body)
      }
      return report
    default: return try sound.update(query, as: origin, body)
    }
  }

  func get(_ key: String) throws -> Sample? { try sound.get(key) }

  func get(keys: [String]) throws -> [Sample] {
    try sound.get(keys: flaw == .returnsKeysSorted ? keys.sorted() : keys)
  }

  func fetch(_ query: Query<Sample>) throws -> [Sample] {
    try sound.fetch(flaw == .ignoresLimit ? query.limitless : query)
  }

  func count(_ query: Query<Sample>) throws -> Int { try sound.count(query) }

  func delete(_ query: Query<Sample>, as origin: ChangeOrigin) throws -> Int {
    try sound.delete(flaw == .allowsLimitInDelete ? Sample.all : query, as: origin)
  }

  func delete(keys: [String], as origin: ChangeOrigin) throws -> Int {
    try sound.delete(keys: keys, as: origin)
  }

  func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try sound.eraseAllData(as: origin)
  }

  func watch(
    _ query: Query<Sample>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Sample>> {
    sound.watch(query, ignoring: ignored)
  }
}

extension Query<Sample> {
  /// The same order without a limit, for the one query that the facts sort by a note.
  fileprivate var limitless: Query<Sample> {
    "\(self)".contains("sorted by note limit") || "\(self)".contains("offset")
      ? Sample.all.sorted(by: \.note) : self
  }
}
