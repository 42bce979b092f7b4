import CBench
import Larder

extension SearchStudy {
  static let resultCount = 20

  /// All searches of a kind one after another, each engine in its turn.
  func search(_ operations: [SearchOperation], _ figures: inout Figures) throws {
    let store = try open(larderFolder)
    defer { try? store.close() }  // What it holds is not changed here.
    let database = try database(sqliteFolder, isSearched: true)
    defer { bench_search_close(database) }
    let repository = store.repository(of: SearchedText.self)
    try check(repository, database)
    for round in 0..<rounds + 1 {
      for operation in operations {
        let searches = searched.searches.filter { $0.operation == operation }
        guard !searches.isEmpty else {
          throw WrongResult(description: "\(operation.rawValue): there is nothing to search for")
        }
        for engine in round % 2 == 0 ? [SearchEngine.larder, .fts5] : [.fts5, .larder] {
          let seconds = try Self.seconds {
            for search in searches {
              if engine == .larder {
                let query = SearchedText.search(search.text).limit(Self.resultCount)
                _ = try repository.fetch(query)
              } else {
                _ = bench_search_best(database, search.text, Int64(Self.resultCount))
              }
            }
          }
          // The first round reads what the others find in memory.
          if round > 0 { figures.add(seconds / Double(searches.count), operation, engine) }
        }
      }
    }
  }

  /// That both find as many texts.
  private func check(
    _ repository: StoreRepository<SearchedText>, _ database: OpaquePointer
  ) throws {
    for search in searched.searches {
      let query = SearchedText.search(search.text)
      let found = try repository.count(query)
      let expected = Int(bench_search_count(database, search.text))
      let best = try repository.fetch(query.limit(Self.resultCount))
      let other = bench_search_best(database, search.text, Int64(Self.resultCount))
      // Two words of different texts may meet in none.
      let isOfOneText = ![.twoWords, .twoFrequentWords].contains(search.operation)
      guard found == expected, found > 0 || !isOfOneText,
        best.count == min(found, Self.resultCount),
        best.count == Int(other.count)
      else {
        throw WrongResult(
          description: "\(search.text): larder \(found) and \(best.count), "
            + "sqlite-fts5 \(expected) and \(other.count)")
      }
    }
  }
}
