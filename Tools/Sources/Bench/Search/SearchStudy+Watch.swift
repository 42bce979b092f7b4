import Foundation
import Larder

extension SearchStudy {
  private static let changesPerRound = 100

  /// From before a save that a watched search concerns to its consumer, less a save that nobody watches.
  func watch(_ figures: inout Figures) async throws {
    let store = try open(larderFolder)
    defer { try? store.close() }  // Nothing in it is needed any more.
    let repository = store.repository(of: SearchedText.self)
    let usual = searched.searches.filter { $0.operation == .usualWord }.map(\.text)
    let frequent = searched.searches.filter { $0.operation == .frequentWord }.map(\.text)
    guard let usual = usual.last, let frequent = frequent.first else {
      throw WrongResult(description: "there is nothing to watch")
    }
    for _ in 0..<rounds {
      try await deliver(SearchedText.search(usual), usual, .watch, repository, &figures)
      try await deliver(
        SearchedText.search(frequent).limit(Self.resultCount), frequent, .watchBest, repository,
        &figures)
    }
  }

  private func deliver(
    _ query: Query<SearchedText>, _ word: String, _ operation: SearchOperation,
    _ repository: StoreRepository<SearchedText>, _ figures: inout Figures
  ) async throws {
    // A title that says nothing else is among the best.
    func text(_ turn: Int) -> SearchedText {
      let many = Array(repeating: word, count: 30 + turn % 7).joined(separator: " ")
      return SearchedText(id: 0, title: many, body: "turn\(turn)")
    }
    func save(_ turn: Int) async throws -> ContinuousClock.Instant {
      // Time for the consumer to have settled.
      try await Task.sleep(for: .milliseconds(1))
      let begun = ContinuousClock.now
      try await repository.save(text(turn))
      return begun
    }
    var unwatched: [Double] = []
    for turn in 0..<Self.changesPerRound {
      let begun = try await save(turn)
      unwatched.append((ContinuousClock.now - begun) / .seconds(1))
    }
    guard try repository.fetch(query).contains(where: { $0.id == 0 }) else {
      throw WrongResult(description: "larder: \(operation.rawValue) has nothing to tell of")
    }
    let alone = unwatched.sorted()[unwatched.count / 2]
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let consumer = Task {
      var list: [SearchedText] = []
      for try await change in repository.watch(query) {
        arrived.yield(.now)
        list.apply(change)
      }
      return list
    }
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    for turn in 0..<Self.changesPerRound {
      let begun = try await save(turn + 1)
      guard let arrival = await next.next() else { break }
      figures.add(
        max(0, (arrival - begun) / .seconds(1) - alone), operation, SearchEngine.larder)
    }
    consumer.cancel()
    let list = try await consumer.value
    guard Set(list.map(\.id)) == Set(try repository.fetch(query).map(\.id)) else {
      throw WrongResult(description: "larder: what is watched is not what a search finds")
    }
  }
}
