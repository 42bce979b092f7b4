internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One thing that is true of every repository.
struct ConformanceFact<Subject: ConformanceSubject> {
  let sentence: String
  let check: (Subject, any Repository<Subject.Model, Subject.Entity>) async throws -> Void
}

extension ConformanceSubject {
  static var facts: [ConformanceFact<Self>] {
    savingFacts + conflictFacts + updatingFacts + readingFacts + pagingFacts + deletingFacts
      + asynchronousFacts + cancelledUpdateFacts + watchingFacts
  }

  func samples(_ ids: String...) -> [Model] {
    ids.map { model(Sample(id: $0, group: "red", rank: 1)) }
  }

  /// Models with the ranks 1, 2 and so on.
  func ranked(_ ids: String...) -> [Model] {
    ids.enumerated().map { model(Sample(id: $1, group: "red", rank: $0 + 1)) }
  }

  /// What is read of a sample that was saved once.
  func read(_ sample: Sample) -> Model? {
    convert(entity(model(sample), over: nil))
  }

  // MARK: Saving

  private static var savingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "a new repository is empty, and deleting from it deletes nothing") {
        subject, repository in
        try expect(repository.fetch(subject.all), [])
        try expect(repository.get("a"), nil)
        try expect(repository.count(), 0)
        try expect(repository.eraseAllData(), 0)
        try expect(repository.delete(subject.all), 0)
        try expect(repository.delete(keys: ["a"]), 0)
        try expect(repository.save([]), SaveReport())
        try expect(repository.save([], clearBeforeSaving: subject.all), SaveReport())
      },
      .init(sentence: "what is saved is what is read, and saving it again changes nothing") {
        subject, repository in
        let models = subject.samples("a", "b")
        try expect(repository.save(models), report(inserted: 2))
        try expect(repository.save(models), report(unchanged: 2))
        let changed = subject.changing(models[1], id: nil, rank: 7)
        try expect(repository.save(changed), report(updated: 1))
        try expect(repository.get("b").map(subject.rank), 7)
        try expect(repository.get("a"), subject.read(Sample(id: "a", group: "red", rank: 1)))
      },
      .init(sentence: "of models with one key the last is saved, the others are duplicates") {
        subject, repository in
        let model = subject.samples("a")[0]
        let models = (1...3).map { subject.changing(model, id: nil, rank: $0) }
        try expect(repository.save(models), report(inserted: 1, duplicates: 2))
        try expect(repository.get("a").map(subject.rank), 3)
        try expect(repository.save([models[0], models[2]]), report(unchanged: 1, duplicates: 1))
      },
      .init(sentence: "keys that are canonically equivalent are one key") {
        subject, repository in
        try expect(
          repository.save(subject.samples("\u{E9}", "e\u{301}")),
          report(inserted: 1, duplicates: 1))
        try expect(repository.get("\u{E9}").map(subject.rank), 1)
        try expect(repository.get(keys: ["e\u{301}"]).count, 1)
        try expect(repository.delete(keys: ["e\u{301}"]), 1)
      },
      .init(sentence: "a key that is empty or too long is refused, and nothing of its save kept") {
        subject, repository in
        let long = String(repeating: "k", count: 256)
        try repository.save(subject.samples("z"))
        for id in ["", long] {
          let error = StoreError.keyLength(
            collection: Entity.schema.name, key: "\"\(id)\"", byteCount: id.utf8.count, limit: 255)
          for policy in [ConflictPolicy<Model>.replace, .keepExisting, .merge { $1 }] {
            try expect(throws: error) {
              try repository.save(
                subject.samples("a", id), clearBeforeSaving: subject.all, onConflict: policy)
            }
          }
          try expect(repository.get(id), nil)
          try expect(repository.delete(keys: [id]), 0)
        }
        try expect(repository.fetch(subject.all).count, 1)
        try expect(repository.save(subject.samples(String(long.dropLast()))), report(inserted: 1))
      },
      .init(sentence: "clear-before-save replaces what the query matches, and nothing else") {
        subject, repository in
        let blue = subject.model(Sample(id: "c", group: "blue"))
        try repository.save(subject.samples("a", "b") + [blue])
        let changed = subject.changing(subject.samples("b")[0], id: nil, rank: 9)
        try expect(
          repository.save(
            [changed] + subject.samples("d"), clearBeforeSaving: subject.matching(.group("red"))),
          report(inserted: 1, updated: 1, deleted: 1))
        try expect(repository.fetch(subject.all).map(subject.rank), [9, 0, 1])
        try expect(
          repository.save([], clearBeforeSaving: subject.all), report(deleted: 3))
      },
      .init(sentence: "a document that clear-before-save both clears and saves is an update") {
        subject, repository in
        try repository.save(subject.model(Sample(id: "a", group: "red", firstGroup: "red")))
        let blue = subject.model(Sample(id: "a", group: "blue", firstGroup: "red"))
        try expect(repository.save([blue], clearBeforeSaving: subject.all), report(updated: 1))
        let stored = Sample(id: "a", group: "red", firstGroup: "red")
        try expect(repository.get("a"), subject.convert(subject.entity(blue, over: stored)))
      },
      .init(sentence: "a limit or an offset where the whole match is meant is refused") {
        subject, repository in
        try repository.save(subject.samples("a", "b"))
        for (query, reason) in [
          (subject.all.limit(1), "it has a limit"), (subject.all.offset(1), "it has an offset"),
        ] {
          try expect(throws: .queryNotAllowed(operation: "clearBeforeSaving", reason: reason)) {
            try repository.save(subject.samples("c"), clearBeforeSaving: query)
          }
          try expect(throws: .queryNotAllowed(operation: "delete", reason: reason)) {
            try repository.delete(query)
          }
        }
        try expect(repository.count(), 2)
        try expect(repository.delete(subject.sorted(subject.all, by: .rank, .forward)), 2)
      },
    ]
  }

  // MARK: Conflicts

  private static var conflictFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "a save that keeps what exists adds only what is new") {
        subject, repository in
        try repository.save(subject.samples("a", "c"))
        let changed = subject.samples("a", "b").map { subject.changing($0, id: nil, rank: 5) }
        try expect(
          repository.save(changed, onConflict: .keepExisting), report(inserted: 1, unchanged: 1))
        try expect(repository.fetch(subject.all).map(subject.rank), [1, 5, 1])
        try expect(
          repository.save(
            [changed[0]], clearBeforeSaving: subject.all, onConflict: .keepExisting),
          report(unchanged: 1, deleted: 2))
        try expect(repository.fetch(subject.all).map(subject.rank), [1])
      },
      .init(sentence: "a save that merges stores what the closure makes of both") {
        subject, repository in
        try repository.save(subject.samples("a"))
        let changed = subject.samples("a", "b").map { subject.changing($0, id: nil, rank: 5) }
        let adding = ConflictPolicy<Model>.merge { stored, new in
          subject.changing(new, id: nil, rank: subject.rank(of: stored) + subject.rank(of: new))
        }
        try expect(
          repository.save(changed, onConflict: adding), report(inserted: 1, updated: 1))
        try expect(repository.fetch(subject.all).map(subject.rank), [6, 5])
        try expect(
          repository.save(changed, onConflict: .merge { stored, _ in stored }),
          report(unchanged: 2))
      },
      .init(sentence: "a merge that throws, or changes the key, keeps nothing of the save") {
        subject, repository in
        try repository.save(subject.samples("b"))
        do {
          try repository.save(
            subject.samples("a", "b"), clearBeforeSaving: subject.all,
            onConflict: .merge { _, _ in throw Stop() })
          throw Unequal(description: "the error of the closure was lost")
        } catch is Stop {}
        let rename = ConflictPolicy<Model>.merge { _, new in
          subject.changing(new, id: "other", rank: 3)
        }
        try expect(
          throws: .keyChanged(collection: Entity.schema.name, key: "\"b\"", found: "\"other\"")
        ) { try repository.save(subject.samples("a", "b"), onConflict: rename) }
        try expect(repository.fetch(subject.all), repository.get(keys: ["b"]))
        try expect(repository.count(), 1)
      },
    ]
  }

  // MARK: Reading and deleting

  private static var readingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "models come in the order of their keys, or in that of the keys asked for") {
        subject, repository in
        try repository.save(subject.samples("b", "\u{E5}", "a", "B"))
        let all = try repository.fetch(subject.all)
        try expect(all, try repository.get(keys: ["B", "a", "b", "\u{E5}"]))
        try expect(try repository.get(keys: ["a", "x", "B", "a"]), [all[1], all[0], all[1]])
      },
      .init(sentence: "nil comes first, ties stay in the order of the keys, then offset and limit")
      { subject, repository in
        let notes: [String?] = ["y", nil, "x", "y", nil]
        let models = notes.enumerated().map {
          subject.model(Sample(id: "\($0.offset)", rank: $0.offset, note: $0.element))
        }
        try repository.save(models)
        let query = subject.sorted(subject.all, by: .note, .forward)
        try expect(repository.fetch(query).map(subject.rank), [1, 4, 2, 0, 3])
        try expect(repository.fetch(query.offset(1).limit(3)).map(subject.rank), [4, 2, 0])
        try expect(repository.count(query.offset(4).limit(3)), 1)
        try expect(repository.count(query.limit(0)), 0)
        try expect(
          repository.fetch(subject.sorted(subject.all, by: .note, .reverse)).map(subject.rank),
          [0, 3, 2, 1, 4])
      },
      .init(sentence: "entities without a model are left out before offset, limit and count") {
        subject, repository in
        let models = (0..<6).map {
          subject.model(Sample(id: "\($0)", rank: $0, isHidden: $0 % 2 == 0))
        }
        try repository.save(models)
        let ranks = models.indices.filter {
          subject.read(Sample(id: "\($0)", rank: $0, isHidden: $0 % 2 == 0)) != nil
        }
        let part = Array(ranks.dropFirst().prefix(2))
        try expect(repository.fetch(subject.all).map(subject.rank), ranks)
        try expect(repository.fetch(subject.all.offset(1).limit(2)).map(subject.rank), part)
        try expect(
          repository.fetch(subject.sorted(subject.all, by: .rank, .forward).offset(1).limit(2)).map(
            subject.rank),
          part)
        try expect(repository.count(subject.all.limit(4)), min(4, ranks.count))
        try expect(repository.count(subject.all.offset(1)), ranks.count - 1)
        try expect(repository.get(keys: ["0", "1"]).count, ranks.contains(0) ? 2 : 1)
        try expect(repository.delete(subject.matching(.rankBelow(3))), 3, "deleting, hidden or not")
        try expect(repository.eraseAllData(), 3, "erasing, hidden or not")
      },
    ]
  }

  // MARK: Pages and aggregates

  private static var pagingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "pages one after the other are what is fetched, and end with a whole one") {
        subject, repository in
        let models = (0..<7).map {
          subject.model(
            Sample(id: "\($0)", rank: $0 % 3, note: $0 % 2 == 0 ? nil : "x", isHidden: $0 == 1))
        }
        try repository.save(models)
        for query in [
          subject.all, subject.sorted(subject.all, by: .rank, .forward),
          subject.sorted(subject.all, by: .note, .reverse),
          subject.sorted(subject.matching(.rankBelow(2)), by: .rank, .reverse),
        ] {
          var paged: [Model] = []
          var cursor: PageCursor?
          repeat {
            let page = try repository.page(query.limit(2), after: cursor)
            try expect(page.models.count == 2 || page.next == nil, true, "a whole page")
            paged += page.models
            cursor = page.next
          } while cursor != nil
          try expect(paged, repository.fetch(query))
        }
        try expect(repository.page(subject.all.offset(1).limit(9), after: nil).next, nil)
      },
      .init(
        sentence: "a page goes on behind a model that is gone; another query's cursor is refused"
      ) { subject, repository in
        try repository.save(subject.samples("a", "b", "c", "d"))
        let first = try repository.page(subject.all.limit(2), after: nil)
        try expect(repository.delete(keys: ["a", "b"]), 2)
        try expect(
          repository.page(subject.all.limit(2), after: first.next).models,
          repository.get(keys: ["c", "d"]))
        let other = subject.sorted(subject.all, by: .rank, .forward)
        do {
          _ = try repository.page(other, after: first.next)
          throw Unequal(description: "the cursor of another query was taken")
        } catch StoreError.cursorRefused {}
      },
      .init(sentence: "aggregates are made of the models that are fetched") {
        subject, repository in
        try expect(subject.sumOfRanks(repository, subject.all), 0, "the sum of nothing")
        try expect(repository.keys(), [], "the keys of nothing")
        let models = (0..<6).map {
          subject.model(Sample(id: "\($0)", rank: $0 * $0, isHidden: $0 % 2 == 0))
        }
        try repository.save(models)
        for query in [
          subject.all, subject.matching(.rankBelow(10)),
          subject.sorted(subject.all, by: .rank, .reverse).offset(1).limit(2),
        ] {
          let fetched = try repository.fetch(query)
          try expect(
            subject.sumOfRanks(repository, query), fetched.reduce(0) { $0 + subject.rank(of: $1) })
          try expect(repository.get(keys: repository.keys(of: query)), fetched)
          try expect(repository.exists(query), !fetched.isEmpty)
        }
        try expect(repository.exists(subject.matching(.id("x"))), false)
      },
    ]
  }

  private static var deletingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "deleting counts what was there, each once") { subject, repository in
        try repository.save(subject.samples("a", "b", "c"))
        try expect(repository.delete(keys: ["a", "x", "a"]), 1)
        try expect(repository.delete(subject.matching(.idAbove("b"))), 1)
        try expect(repository.eraseAllData(), 1)
        try expect(repository.save(subject.samples("a")), report(inserted: 1))
      },
      .init(sentence: "one is deleted by its key, or by a model that has its key") {
        subject, repository in
        try repository.save(subject.samples("a", "b", "c", "d"))
        try expect(repository.delete(key: "x"), false)
        try expect(repository.delete(key: "a"), true)
        let other = subject.changing(subject.samples("b")[0], id: nil, rank: 70)
        try expect(repository.entityAccessorKey(other), "b")
        try expect(repository.delete(other), true)
        try expect(repository.delete(other), false)
        try expect(repository.delete(subject.samples("b", "c")), 1)
        try expect(repository.get(keys: ["a", "b", "c"]).count, 0)
        try expect(repository.count(), 1)
      },
    ]
  }

  // MARK: Asynchronously

  private static var asynchronousFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "the asynchronous calls do what the synchronous ones do") {
        subject, repository in
        let saved = try await repository.save(subject.samples("a", "b"))
        try expect(saved, report(inserted: 2))
        let kept = try await repository.save(subject.samples("a"), onConflict: .keepExisting)
        try expect(kept, report(unchanged: 1))
        let replaced = try await repository.save(
          subject.samples("b"), clearBeforeSaving: subject.all)
        try expect(replaced, report(unchanged: 1, deleted: 1))
        let read = try await repository.async.fetch(subject.all)
        try expect(read, try repository.fetch(subject.all))
        let counted = try await repository.async.count()
        try expect(counted, 1)
        do {
          _ = try await repository.save(subject.samples("c", ""))
          throw Unequal(description: "an empty key was not refused")
        } catch is StoreError {}
        let deleted = try await repository.delete(keys: ["b", "c"])
        try expect(deleted, 1)
        try await repository.save(subject.samples("a", "b", "c", "d", "e"))
        let isDeleted = try await repository.delete(key: "c")
        try expect(isDeleted, true)
        let isAgain = try await repository.delete(subject.samples("c")[0])
        try expect(isAgain, false)
        let several = try await repository.delete(subject.samples("d", "e"))
        try expect(several, 2)
        let matched = try await repository.delete(subject.matching(.id("a")))
        try expect(matched, 1)
        let erased = try await repository.eraseAllData()
        try expect(erased, 1)
      },
      .init(sentence: "a task that is cancelled before its save begins saves nothing") {
        subject, repository in
        let models = subject.samples("a")
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          _ = try await repository.save(models)
        }
        task.cancel()
        do {
          try await task.value
          throw Unequal(description: "expected a CancellationError, and nothing was thrown")
        } catch is CancellationError {}
        try expect(repository.count(), 0)
      },
    ]
  }
}

struct Stop: Error {}

/// A report of what is not zero.
func report(
  inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, duplicates: Int = 0
) -> SaveReport {
  var report = SaveReport()
  report.inserted = inserted
  report.updated = updated
  report.unchanged = unchanged
  report.deleted = deleted
  report.duplicates = duplicates
  return report
}
