internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ConformanceSubject {
  // MARK: Changing in place

  static var updatingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "an update changes one model, and returns what is read of it then") {
        subject, repository in
        try repository.save(subject.samples("a", "b"))
        let before = subject.samples("a")[0]
        let changed = subject.changing(before, id: nil, rank: 7)
        let updated = try repository.update("a") {
          $0 = subject.changing($0, id: nil, rank: subject.rank(of: $0) + 6)
        }
        let stored = subject.entity(before, over: nil)
        try expect(updated, subject.convert(subject.entity(changed, over: stored)))
        try expect(repository.get("a"), updated)
        try expect(repository.fetch(subject.all).map(subject.rank), [7, 1])
      },
      .init(sentence: "an update of what is not there, or has no model, is nil and calls nothing") {
        subject, repository in
        for id in ["a", "", String(repeating: "k", count: 256)] {
          let missing = try repository.update(id) { _ in throw Stop() }
          try expect(missing, nil)
        }
        try expect(repository.count(), 0)
        let hidden = Sample(id: "a", rank: 1, isHidden: true)
        try repository.save(subject.model(hidden))
        var calls = 0
        let updated = try repository.update("a") { _ in calls += 1 }
        try expect(updated, subject.read(hidden))
        try expect(calls, subject.read(hidden) == nil ? 0 : 1)
      },
      .init(sentence: "an update that throws, or changes the key, changes nothing") {
        subject, repository in
        try repository.save(subject.samples("a", "b"))
        let before = try repository.fetch(subject.all)
        do {
          try repository.update("a") {
            $0 = subject.changing($0, id: nil, rank: 9)
            throw Stop()
          }
          throw Unequal(description: "the error of the closure was lost")
        } catch is Stop {}
        try expect(
          throws: .keyChanged(collection: Entity.schema.name, key: "\"a\"", found: "\"b\"")
        ) {
          try repository.update("a") { $0 = subject.changing($0, id: "b", rank: 9) }
        }
        try expect(repository.fetch(subject.all), before)
      },
      .init(
        sentence:
          "an update of what a query selects changes that alone, each model once, in its order"
      ) {
        subject, repository in
        try repository.save(subject.ranked("a", "b", "c", "d"))
        let query = subject.sorted(subject.all, by: .rank, .reverse).offset(1).limit(2)
        var met: [Int] = []
        let found = try repository.update(query) {
          met.append(subject.rank(of: $0))
          // Both would then be the first in the query's order.
          $0 = subject.changing($0, id: nil, rank: subject.rank(of: $0) + 10)
        }
        try expect(found, report(updated: 2))
        try expect(met, [3, 2])
        try expect(repository.fetch(subject.all).map(subject.rank), [1, 12, 13, 4])
        try expect(repository.update(query) { _ in }, report(unchanged: 2))
        try expect(repository.update(subject.matching(.id("z"))) { _ in throw Stop() }, report())
      },
      .init(sentence: "an update of several models that throws for one of them changes none") {
        subject, repository in
        try repository.save(subject.ranked("a", "b", "c"))
        let before = try repository.fetch(subject.all)
        do {
          try repository.update(subject.all) {
            if subject.rank(of: $0) == 3 { throw Stop() }
            $0 = subject.changing($0, id: nil, rank: 9)
          }
          throw Unequal(description: "the error of the closure was lost")
        } catch is Stop {}
        try expect(
          throws: .keyChanged(collection: Entity.schema.name, key: "\"b\"", found: "\"z\"")
        ) {
          try repository.update(subject.all) {
            $0 = subject.changing($0, id: subject.rank(of: $0) == 2 ? "z" : nil, rank: 9)
          }
        }
        try expect(repository.fetch(subject.all), before)
      },
      .init(sentence: "what is written follows from where a change comes from, as the mapper says")
      {
        subject, repository in
        func sample(_ rank: Int, _ label: String) -> Sample {
          Sample(id: "a", rank: rank, label: label)
        }
        var stored: Sample?
        for (number, origin) in [ChangeOrigin.local, .sync, .imported, .local].enumerated() {
          let saved = subject.model(sample(number, "saved \(number)"))
          try repository.save(saved, as: origin)
          stored = subject.entity(saved, over: stored, as: origin)
          try expect(repository.get("a"), stored.flatMap(subject.convert), "saved as \(origin)")

          let edited = subject.model(sample(number, "edited \(number)"))
          let updated = try repository.update("a", as: origin) { $0 = edited }
          stored = subject.entity(edited, over: stored, as: origin)
          try expect(updated, stored.flatMap(subject.convert), "updated as \(origin)")
          try expect(repository.get("a"), updated)
        }
      },
      .init(sentence: "updates of many tasks are never lost") { subject, repository in
        try await repository.save(subject.samples("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<50 {
            group.addTask {
              try await repository.update("a") {
                $0 = subject.changing($0, id: nil, rank: subject.rank(of: $0) + 1)
              }
            }
          }
          try await group.waitForAll()
        }
        try expect(repository.get("a").map(subject.rank), 51)
      },
    ]
  }

  static var cancelledUpdateFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "a task that is cancelled before its update begins changes nothing") {
        subject, repository in
        try await repository.save(subject.samples("a"))
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          try await repository.update("a") { $0 = subject.changing($0, id: nil, rank: 9) }
        }
        task.cancel()
        do {
          try await task.value
          throw Unequal(description: "expected a CancellationError, and nothing was thrown")
        } catch is CancellationError {}
        try expect(repository.get("a").map(subject.rank), 1)
      },
      .init(
        sentence: "a task that is cancelled before its update of a query begins changes nothing"
      ) {
        subject, repository in
        try await repository.save(subject.samples("a"))
        let task = Task {
          while !Task.isCancelled { await Task.yield() }
          try await repository.update(subject.all) {
            $0 = subject.changing($0, id: nil, rank: 9)
          }
        }
        task.cancel()
        do {
          try await task.value
          throw Unequal(description: "expected a CancellationError, and nothing was thrown")
        } catch is CancellationError {}
        try expect(repository.get("a").map(subject.rank), 1)
      },
    ]
  }
}
