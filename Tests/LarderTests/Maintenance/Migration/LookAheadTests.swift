import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

@Document(as: "Ballot") private struct OldBallot: Equatable {
  var id: Int
  var votes: Int
}

@Document(as: "Ballot") private struct NewBallot: Equatable {
  var id: Int
  var votes: Double
}

@Document private struct Visitor: Equatable {
  var id: Int
}

/// A migration that gives a field another kind looks at all documents before it writes the first batch, which has a
/// thousand.
@Suite("the look ahead of a migration") struct LookAheadTests {
  private struct Stop: Error {}

  private static let count = 2500

  private func fill(_ store: Store) throws {
    try store.declare(Visitor.self)
    try store.repository(of: OldBallot.self).save(
      (0..<Self.count).map { OldBallot(id: $0, votes: $0) })
  }

  @Sendable private func change(_ ballot: inout MigratingDocument) {
    if case .integer(let votes)? = ballot["votes"] { ballot["votes"] = .double(Double(votes)) }
  }

  private func checkMigrated(_ store: Store) throws {
    try store.declare(NewBallot.self)
    let ballots = try store.repository(of: NewBallot.self).fetch(NewBallot.all.sorted(by: \.id))
    #expect(ballots == (0..<Self.count).map { NewBallot(id: $0, votes: Double($0)) })
    #expect(try store.check().isSound)
  }

  private func checkUntouched(_ store: Store) throws {
    #expect(try store.version(of: NewBallot.self) == 1)
    let ballots = store.repository(of: OldBallot.self)
    #expect(try ballots.count() == Self.count && ballots.get(7)?.votes == 7)
  }

  /// Migrates, and writes whenever the closure is asked about one document, `visitCount` times at most.
  ///
  /// - Returns: How often it was asked.
  private func migrate(
    _ store: Store, visitCount: Int, _ write: @escaping @Sendable (Int) throws -> Void
  ) async throws -> Int {
    let visits = Locked(0)
    try await store.migrate(NewBallot.self, to: 2) { ballot in
      change(&ballot)
      guard ballot.key == 2000 else { return }
      let visit = visits.withLock { visits in
        visits += 1
        return visits
      }
      // In a write of the migration this would be refused.
      if visit <= visitCount { try write(visit) }
    }
    return visits.withLock { $0 }
  }

  @Test("others write meanwhile in other collections") func others() async throws {
    try await withTemporaryStore { store in
      try fill(store)
      let visitCount = try await migrate(store, visitCount: 1) {
        try store.repository(of: Visitor.self).save(Visitor(id: $0))
      }
      #expect(visitCount == 2)
      #expect(try store.repository(of: Visitor.self).count() == 1)
      try checkMigrated(store)
    }
  }

  @Test(
    "where the collection itself is changed it looks again, and at last has the others wait",
    arguments: [1, 2, 3])
  func disturbed(_ count: Int) async throws {
    try await withTemporaryStore { store in
      try fill(store)
      let visitCount = try await migrate(store, visitCount: count) { visit in
        // Changed, and changed back.
        try store.repository(of: OldBallot.self).save(OldBallot(id: 2400, votes: visit))
        try store.repository(of: OldBallot.self).save(OldBallot(id: 2400, votes: 2400))
      }
      // Each look that was disturbed, one that was not, and the migration itself.
      #expect(visitCount == count + 2)
      try checkMigrated(store)
    }
  }

  @Test("documents that change meanwhile count as they are when they are migrated")
  func changed() throws {
    try withTemporaryStore { store in
      try fill(store)
      let ballots = store.repository(of: OldBallot.self)
      var hasSaved = false
      try store.migrate(NewBallot.self, to: 2) { ballot in
        if ballot.key == 2000, !hasSaved {
          hasSaved = true
          // Looked at before: it keeps its number, and so do all.
          try ballots.save(OldBallot(id: 1500, votes: -1))
        }
        if ballot["votes"] != -1 { change(&ballot) }
      }
      try store.declare(OldBallot.self)
      #expect(try ballots.get(1500)?.votes == -1)
      #expect(try ballots.get(3)?.votes == 3)
      #expect(try store.check().isSound)
    }
  }

  @Test("fields that others declare meanwhile are read as they are")
  func declared() throws {
    try withTemporaryStore { store in
      try fill(store)
      var hasSaved = false
      try store.migrate(NewBallot.self, to: 2) { ballot in
        if ballot.key == 1999, !hasSaved {
          hasSaved = true
          try store.collection("Ballot").save([
            ["id": 2300, "votes": 2300, "booth": .document(["number": 7])]
          ])
        }
        change(&ballot)
      }
      #expect(hasSaved)
      #expect(try store.collection("Ballot").get(2300)?["booth"] == .document(["number": 7]))
      try checkMigrated(store)
    }
  }

  @Test("its progress is told, and the fraction of the whole only grows")
  func progress() async throws {
    try await withTemporaryStore { store in
      try fill(store)
      let told = Locked<[StoreProgress]>([])
      try await store.migrate(NewBallot.self, to: 2) { news in
        told.withLock { $0.append(news) }
      } _: {
        change(&$0)
      }
      let news = told.withLock { $0 }
      #expect(news.map(\.phase) == [.examining, .examining, .migrating, .migrating, .migrating])
      #expect(news.map(\.completed) == [1000, 1500, 1000, 2000, 2500])
      #expect(news.map(\.total) == [1500, 1500, 2500, 2500, 2500])
      let fractions = news.map { $0.fraction ?? -1 }
      #expect(fractions.sorted() == fractions && fractions[1] == 0.5 && fractions.last == 1)
      try checkMigrated(store)
    }
  }

  @Test("it can be ended, and then nothing is changed", arguments: [true, false])
  func ended(isThrown: Bool) async throws {
    try await withTemporaryStore { store in
      try fill(store)
      if isThrown {
        #expect(throws: Stop.self) {
          try store.migrate(NewBallot.self, to: 2) {
            if $0.phase == .examining { throw Stop() }
          } _: {
            change(&$0)
          }
        }
      } else {
        let task = Task {
          try await store.migrate(NewBallot.self, to: 2) { news in
            if news.phase == .examining { withUnsafeCurrentTask { $0?.cancel() } }
          } _: {
            change(&$0)
          }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      try checkUntouched(store)
    }
  }

  @Test("where the closure throws in it, nothing is changed") func thrown() throws {
    try withTemporaryStore { store in
      try fill(store)
      #expect(throws: MigrationError.self) {
        try store.migrate(NewBallot.self, to: 2) {
          if $0.key == 2200 { throw Stop() }
          change(&$0)
        }
      }
      try checkUntouched(store)
    }
  }
}
