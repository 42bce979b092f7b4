internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ConformanceSubject {
  // MARK: Watching

  static var watchingFacts: [ConformanceFact<Self>] {
    [
      .init(sentence: "a watched query begins with what is stored") { subject, repository in
        try await repository.save(subject.model(Sample(id: "a", group: "red")))
        var changes = repository.watch(subject.matching(.group("red"))).makeAsyncIterator()
        guard case .initial(let models, _)? = try await changes.next() else {
          throw Unequal(description: "expected the stored result first")
        }
        try expect(Array(models), try repository.fetch(subject.all))
      },
      .init(sentence: "after each step of a watched query the list is what a fetch gives") {
        subject, repository in
        let query = subject.sorted(subject.matching(.group("red")), by: .rank, .forward)
          .offset(1).limit(3)
        var changes = repository.watch(query).makeAsyncIterator()
        var list: [Model] = []
        func sample(_ id: String, _ rank: Int, isHidden: Bool = false) -> Model {
          subject.model(Sample(id: id, group: "red", rank: rank, isHidden: isHidden))
        }
        let steps: [() throws -> Void] = [
          {},
          { try repository.save((1...6).map { sample("\($0)", $0) }) },
          { try repository.save(sample("6", 0)) },
          { try repository.update("5") { $0 = subject.changing($0, id: nil, rank: 1) } },
          { try repository.save([sample("1", 9), sample("2", 10)]) },
          { try repository.save(sample("4", 4, isHidden: true)) },
          { try repository.delete(keys: ["3", "6"]) },
          {
            try repository.save(
              [sample("7", 1), sample("8", 2)], clearBeforeSaving: subject.matching(.group("red")))
          },
        ]
        for step in steps {
          let before = list
          try step()
          let expected = try repository.fetch(query)
          if expected == before, !before.isEmpty { continue }
          guard let change = try await changes.next() else {
            throw Unequal(description: "the changes ended")
          }
          list.apply(change)
          try expect(list, expected)
        }
        try await repository.eraseAllData()
        if let change = try await changes.next() { list.apply(change) }
        try expect(list, [])
      },
      .init(sentence: "what happens between two looks is one step, and nothing is none") {
        subject, repository in
        var changes = repository.watch(subject.all).makeAsyncIterator()
        _ = try await changes.next()
        let models = (0..<5).map { subject.model(Sample(id: "\($0)")) }
        for model in models { try await repository.save(model) }
        try await repository.delete(keys: ["0"])
        guard case .update(let difference)? = try await changes.next() else {
          throw Unequal(description: "expected an update")
        }
        try expect(difference.insertions.map(\.offset), [0, 1, 2, 3])
        try expect(difference.removals.count + difference.updates.count, 0)
      },
      .init(sentence: "values are whole results, counts are counts, and a key has one document") {
        subject, repository in
        var values = repository.values(of: subject.sorted(subject.all, by: .rank, .forward))
          .makeAsyncIterator()
        var counts = repository.watchCount().makeAsyncIterator()
        var one = repository.watch(key: "b").makeAsyncIterator()
        try expect(await values.next(), [])
        try expect(await counts.next(), 0)
        try expect(await one.next(), .some(nil))

        try await repository.save([
          subject.model(Sample(id: "a", rank: 2)), subject.model(Sample(id: "b", rank: 1)),
        ])
        try expect(
          await values.next().map(Array.init),
          try repository.fetch(subject.sorted(subject.all, by: .rank, .forward)))
        try expect(await counts.next(), 2)
        try expect(await one.next(), try repository.get("b"))

        try await repository.save(subject.model(Sample(id: "a", rank: 0)))
        try await repository.delete(keys: ["b"])
        try expect(await values.next().map(Array.init), try repository.fetch(subject.all))
        try expect(await counts.next(), 1)
        try expect(await one.next(), .some(nil))
      },
      .init(sentence: "changes of an origin that is ignored make no step, and come with the next") {
        subject, repository in
        let models = (0..<6).map { subject.model(Sample(id: "\($0)")) }
        try await repository.save([models[0], models[5]])
        let before = try repository.fetch(subject.all)
        let values = repository.values(of: subject.all, ignoring: [.sync])
        let (first, began) = AsyncStream.makeStream(of: Void.self)
        let watching = Task {
          defer { began.finish() }
          var steps = values.makeAsyncIterator()
          let first = try await steps.next()
          began.finish()
          return [first, try await steps.next()]
        }
        for await _ in first {}

        try await repository.save([models[1]], as: .sync)
        try await repository.save(models[2], as: .sync)
        try await repository.save(
          [models[3]], clearBeforeSaving: subject.matching(.id("0")), as: .sync)
        try await repository.update("2", as: .sync) { $0 = subject.changing($0, id: nil, rank: 8) }
        try await repository.delete(keys: ["1"], as: .sync)
        try await repository.delete(subject.matching(.id("5")), as: .sync)
        // Time for a step that should not be made.
        for _ in 0..<100 { await Task.yield() }
        try await repository.save(models[4])
        let seen = try await watching.value.map { $0.map(Array.init) }
        try expect(seen, [before, try repository.fetch(subject.all)])
      },
      .init(sentence: "a watcher whose task is cancelled ends") { subject, repository in
        let changes = repository.watch(subject.all)
        let task = Task {
          var count = 0
          for try await _ in changes { count += 1 }
          return count
        }
        await Task.yield()
        task.cancel()
        try expect(await task.value <= 1, true)
      },
    ]
  }
}
