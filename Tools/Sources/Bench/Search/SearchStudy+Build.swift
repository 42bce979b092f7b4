import CBench
import Larder

extension SearchStudy {
  private static let batchCount = 1_000

  var larderFolder: ScratchFolder { folder.inner("larder") }
  var sqliteFolder: ScratchFolder { folder.inner("sqlite") }

  /// Indexes texts that are there already and saves texts with their index. What the last round has made stays,
  /// for the searches.
  func build(_ round: Int, _ figures: inout Figures) async throws {
    if round % 2 == 0 {
      try await buildLarder(&figures)
      try buildSQLite(&figures)
    } else {
      try buildSQLite(&figures)
      try await buildLarder(&figures)
    }
  }

  private func buildLarder(_ figures: inout Figures) async throws {
    let store = try open(folder.folder("larder"))
    let plain = store.repository(of: PlainText.self)
    figures.add(try save(PlainText.self, in: store), .save, .larderPlain)
    let collection = store.collection(PlainText.schema.name)
    let start = ContinuousClock.now
    try collection.createSearchIndex(on: [.field("title", weight: 3), "body"])
    try await collection.buildIndexes()
    figures.add((try await Self.untilNothingIsWritten() - start) / .seconds(1), .build, .larder)
    figures.add(try Self.indexByteCount(in: store, PlainText.schema.name), .size, .larder)
    guard try plain.count() == texts.count else {
      throw WrongResult(description: "larder: texts are missing")
    }
    try store.close()

    let searched = try open(folder.folder("larder"))
    let begun = ContinuousClock.now
    _ = try save(SearchedText.self, in: searched)
    figures.add((try await Self.untilNothingIsWritten() - begun) / .seconds(1), .save, .larder)
    figures.add(
      try Self.indexByteCount(in: searched, SearchedText.schema.name), .savedSize, .larder)
    try searched.close()
  }

  private static func indexByteCount(in store: Store, _ name: String) throws -> Double {
    let indexes = try store.collection(name).indexes()
    return Double(indexes.reduce(0) { $0 + $1.byteCount })
  }

  private func save<Text: StudiedText>(_ type: Text.Type, in store: Store) throws -> Double {
    let documents = texts.enumerated().map {
      Text(id: $0.offset, title: $0.element.title, body: $0.element.body)
    }
    let repository = store.repository(of: type)
    return try Self.seconds {
      for start in stride(from: 0, to: documents.count, by: Self.batchCount) {
        let end = min(start + Self.batchCount, documents.count)
        try repository.save(Array(documents[start..<end]))
      }
    }
  }

  private func buildSQLite(_ figures: inout Figures) throws {
    let plain = try database(folder.folder("sqlite"), isSearched: false)
    figures.add(save(in: plain), .save, .sqlitePlain)
    figures.add(Self.seconds { bench_search_build(plain) }, .build, .fts5)
    figures.add(Double(bench_search_byte_count(plain)), .size, .fts5)
    bench_search_close(plain)

    let searched = try database(folder.folder("sqlite"), isSearched: true)
    figures.add(save(in: searched), .save, .fts5)
    figures.add(Double(bench_search_byte_count(searched)), .savedSize, .fts5)
    // As fast as it can be searched.
    bench_search_optimize(searched)
    bench_search_close(searched)
  }

  private func save(in database: OpaquePointer) -> Double {
    Self.seconds {
      for start in stride(from: 0, to: texts.count, by: Self.batchCount) {
        bench_search_begin(database)
        for id in start..<min(start + Self.batchCount, texts.count) {
          bench_search_save(database, Int64(id), texts[id].title, texts[id].body)
        }
        bench_search_commit(database)
      }
    }
  }
}
