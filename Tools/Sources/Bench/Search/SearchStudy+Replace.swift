import CBench
import Foundation
import Larder

extension SearchStudy {
  private static let timedCount = 50
  private static let writtenCount = 500

  /// One text is replaced by another, again and again, on a disk.
  func replace(_ figures: inout Figures) async throws {
    try await replace(SearchedText.self, .larder, &figures)
    try await replace(PlainText.self, .larderPlain, &figures)
    for isSearched in [true, false] {
      let place = try disk.folder("sqlite")
      defer { place.remove() }
      let database = try database(place, isSearched: isSearched)
      defer { bench_search_close(database) }
      bench_search_begin(database)
      for (id, text) in texts.enumerated() {
        bench_search_save(database, Int64(id), text.title, text.body)
      }
      bench_search_commit(database)
      let engine = isSearched ? SearchEngine.fts5 : .sqlitePlain
      var turn = 0
      func replaceOne() {
        let (id, text) = replacement(turn)
        bench_search_save(database, Int64(id), text.title, text.body)
        turn += 1
      }
      for _ in 0..<rounds {
        for _ in 0..<Self.timedCount {
          figures.add(Self.seconds { replaceOne() }, .durableSave, engine)
        }
        guard let before = bytesWrittenToFiles() else { continue }
        for _ in 0..<Self.writtenCount { replaceOne() }
        guard let after = bytesWrittenToFiles() else { continue }
        figures.add(Double(after - before) / Double(Self.writtenCount), .written, engine)
      }
    }
  }

  private func replace<Text: StudiedText>(
    _ type: Text.Type, _ engine: SearchEngine, _ figures: inout Figures
  ) async throws {
    let place = try disk.folder(engine.rawValue)
    defer { place.remove() }
    let store = try open(place, isDurable: true)
    defer { try? store.close() }  // Nothing in it is needed any more.
    let repository = store.repository(of: type)
    try await repository.save(
      texts.enumerated().map {
        Text(id: $0.offset, title: $0.element.title, body: $0.element.body)
      })
    try await Self.untilNothingIsWritten()
    var turn = 0
    func replaceOne() async throws {
      let (id, text) = replacement(turn)
      try await repository.save(Text(id: id, title: text.title, body: text.body))
      turn += 1
    }
    for _ in 0..<rounds {
      for _ in 0..<Self.timedCount {
        let start = ContinuousClock.now
        try await replaceOne()
        figures.add((ContinuousClock.now - start) / .seconds(1), .durableSave, engine)
      }
      try await Self.untilNothingIsWritten()
      guard let before = bytesWrittenToFiles() else { continue }
      for _ in 0..<Self.writtenCount { try await replaceOne() }
      try await Self.untilNothingIsWritten()
      guard let after = bytesWrittenToFiles() else { continue }
      figures.add(Double(after - before) / Double(Self.writtenCount), .written, engine)
    }
  }

  /// Waits until what is merged behind saves is merged. Waiting itself writes a few bytes, to wake threads.
  ///
  /// - Returns: When that was, to 10 milliseconds.
  @discardableResult
  static func untilNothingIsWritten() async throws -> ContinuousClock.Instant {
    var (last, instant) = (bytesWrittenToFiles() ?? 0, ContinuousClock.now)
    while ContinuousClock.now - instant < .milliseconds(200) {
      try await Task.sleep(for: .milliseconds(10))
      let now = bytesWrittenToFiles() ?? 0
      if now - last >= 1_000 { instant = .now }
      last = now
    }
    return instant
  }
}
