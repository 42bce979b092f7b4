import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite("a search that ranks what it finds")
struct SearchRankTests {
  private func words(_ random: inout RandomSource) -> [String] {
    Array(Set(random.array(1..<4) { $0.pick(SearchedNote.words) })).sorted()
  }

  @Test("best first, by the index, by every document and in memory, as BM25 without Larder has it")
  func oracle() throws {
    var random = RandomSource()
    for round in 0..<repetitions(3) {
      var notes = (0..<random.pick([40, 300, 700])).map { SearchedNote.random($0, &random) }
      let memory = InMemoryRepository(of: SearchedNote.self)
      try memory.save(notes)
      try withTemporaryStore { store in
        let repository = store.repository(of: SearchedNote.self)
        try repository.save(notes)
        for _ in 0..<40 {
          let wanted = words(&random)
          let scores = notes.scores(of: wanted)
          let limit = random.pick([1, 5, 20, 1000])
          let query = SearchedNote.search(wanted.joined(separator: " "))
          let found = try repository.fetch(query)
          #expect(Set(found.map(\.id)) == Set(scores.keys), "\(wanted) \(random.hint)")
          #expect(isRanked(found.map(\.id), by: scores), "\(wanted) \(random.hint)")
          #expect(try repository.fetch(query.limit(limit)) == Array(found.prefix(limit)))
          #expect(try memory.fetch(query) == found, "\(wanted) \(random.hint)")
          #expect(try query.results(of: notes) == found, "\(wanted) \(random.hint)")
          #expect(try repository.count(query) == found.count)
          let pinned = query.where { $0.isPinned }
          #expect(
            try repository.fetch(pinned.limit(limit))
              == Array(found.filter(\.isPinned).prefix(limit)), "\(wanted) \(random.hint)")
          let ordered = query.sorted(by: \.isPinned, .reverse).sortedByRank()
          #expect(
            try repository.fetch(ordered)
              == found.filter(\.isPinned) + found.filter { !$0.isPinned },
            "\(wanted) \(random.hint)")
          #expect(
            try repository.fetch(query.sorted(by: \.id)) == found.sorted { $0.id < $1.id })
          // Without an index.
          if round == 0, try store.collection("SearchedNote").dropIndex("search") {
            #expect(try repository.fetch(query) == found, "\(wanted) \(random.hint)")
          }
          notes[random.int(0..<notes.count)] = .random(random.int(0..<notes.count), &random)
          notes = Dictionary(notes.map { ($0.id, $0) }) { $1 }.values.sorted { $0.id < $1.id }
          try repository.save(notes, clearBeforeSaving: SearchedNote.all)
          try memory.save(notes, clearBeforeSaving: SearchedNote.all)
        }
        #expect(try store.check().problems.isEmpty)
      }
    }
  }

  @Test("pages go on where the page before them ended, whatever is saved in between")
  func pages() throws {
    var random = RandomSource()
    for isInMemory in [false, true] {
      try withTemporaryStore { store in
        let notes = (0..<200).map { SearchedNote.random($0, &random) }
        let memory = InMemoryRepository(of: SearchedNote.self)
        let repository: any Repository<SearchedNote, SearchedNote> =
          isInMemory ? memory : store.repository(of: SearchedNote.self)
        try repository.save(notes)
        let query = SearchedNote.search("winter")
        let whole = try repository.fetch(query)
        var paged: [SearchedNote] = []
        var page = try repository.page(query.limit(7), after: nil)
        paged += page.models
        while let next = page.next {
          // What is rare, and how long texts are, changes.
          let id = 10_000 + paged.count
          try repository.save(
            SearchedNote(id: id, title: "coffee", body: String(repeating: "snow ", count: 500)))
          page = try repository.page(query.limit(7), after: try again(next))
          paged += page.models
        }
        #expect(paged == whole, "\(random.hint)")
        let first = try repository.page(query.limit(1), after: nil)
        #expect(throws: StoreError.self) {
          try repository.page(query.sorted(by: \.title).limit(1), after: first.next)
        }
        #expect(throws: StoreError.self) {
          try repository.page(SearchedNote.search("snow").limit(1), after: first.next)
        }
      }
    }
  }

  @Test("a cursor of the same search with other weights is refused, as that has other ranks")
  func cursorOfOtherWeights() throws {
    let repository = InMemoryRepository(of: SearchedNote.self)
    try repository.save((0..<9).map { SearchedNote(id: $0, title: "winter") })
    let queries = [1, 2, 3].map {
      SearchIndex<SearchedNote>(.field(\.title, weight: $0))("winter").limit(1)
    }
    for query in queries {
      let cursor = try #require(try repository.page(query, after: nil).next)
      for other in queries where other != query {
        #expect(throws: StoreError.self) { try repository.page(other, after: cursor) }
      }
      #expect(try repository.page(query, after: cursor).models.map(\.id) == [1])
    }
  }

  @Test("a cursor with other values than its query has is refused")
  func forgedCursors() throws {
    let repository = InMemoryRepository(of: SearchedNote.self)
    try repository.save((0..<9).map { SearchedNote(id: $0, title: "winter") })
    for query in [SearchedNote.search("winter"), SearchedNote.all.sorted(by: \.title)] {
      let cursor = try #require(try repository.page(query.limit(1), after: nil).next)
      let values = try cursor.sortValues()
      var forged = [
        [], Array(values.dropFirst()), values + [.null], values.map { _ in Value.null },
      ]
      if values.count == 2 {
        forged += [
          [values[0]], [.double(.nan), values[1]], [.string("1"), values[1]],
          [values[0], .array([.integer(1), .double(1)])],
          [values[0], .array([.integer(-1), .double(1), .integer(1)])],
        ]
      } else {
        // Any value has its place in the order of a field.
        forged.removeLast()
      }
      for values in forged {
        let cursor = PageCursor(fingerprint: cursor.fingerprint, values: values, key: cursor.key)
        #expect(throws: StoreError.self, "\(values)") {
          try repository.page(query.limit(1), after: cursor)
        }
      }
    }
  }

  private func again(_ cursor: PageCursor) throws -> PageCursor {
    try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(cursor))
  }

  @Test(
    "what watches a ranked read hears of documents that the condition leaves out: they change the ranks"
  )
  func watchedRead() async throws {
    func note(_ id: Int, _ title: String, isPinned: Bool) -> SearchedNote {
      SearchedNote(id: id, title: title, isPinned: isPinned)
    }
    try await withTemporaryStore { store in
      let notes = store.repository(of: SearchedNote.self)
      try await notes.save(
        [1, 2].map { note($0, "snow", isPinned: true) }
          + [3, 4].map { note($0, "blue", isPinned: true) }
          + (10..<30).map { note($0, "blue", isPinned: false) })
      let query = SearchedNote.where { $0.isPinned }.search("snow OR blue").limit(2)
      var fetched = store.watch { try $0.fetch(query).map(\.id) }.makeAsyncIterator()
      var keys = notes.watch(.keys(), of: query).makeAsyncIterator()
      #expect(try await fetched.next() == [1, 2])
      #expect(try await keys.next() == [1, 2])

      try await notes.save((100..<140).map { note($0, "snow", isPinned: false) })

      #expect(try await fetched.next() == [3, 4])
      #expect(try await keys.next() == [3, 4])
      #expect(try notes.keys(of: query) == [3, 4])
    }
  }

  @Test(
    "a weight that no index may have keeps no word from being found", arguments: [-5, 0, 1 << 33])
  func weights(weight: Int) throws {
    let index = SearchIndex<SearchedNote>(.field(\.title, weight: weight))
    for query in [index("winter"), index("-winter")] {
      try withTemporaryStore { store in
        try store.repository(of: SearchedNote.self).save(
          SearchedNote(id: 1, title: "winter winter"))
        let count = try store.repository(of: SearchedNote.self).count(query)
        #expect(count == (query == index("winter") ? 1 : 0))
      }
    }
  }

  @Test("a watched search has what a fetch has, and is ranked anew when the collection has doubled")
  func watching() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: SearchedNote.self)
      // The first save makes the collection; a watch cannot rank before.
      var hasSaved = false
      for limit in [10, 1000] {
        let query = SearchedNote.search("winter").limit(limit)
        var watch = ResultWatch(
          store, query.selection, RowReader<SearchedNote, SearchedNote>(query.selection))
        var list: [SearchedNote] = []
        var steps = 0
        var ranking: NaiveRanking?
        var rereadCount = 0
        for step in 0..<120 {
          for _ in 0..<random.int(0..<6) {
            try repository.save(SearchedNote.random(random.int(0..<4 * (step + 1)), &random))
            hasSaved = true
          }
          if random.once(in: 3) { try repository.delete(key: random.int(0..<step + 1)) }
          if let change = try watch.next(skippingTo: 0) {
            list.apply(change)
            steps += 1
          }
          let found = try repository.fetch(query)
          if found.count < limit {
            #expect(Set(list.map(\.id)) == Set(found.map(\.id)), "\(random.hint)")
          }
          #expect(list.count == found.count, "\(random.hint)")
          let matching = try repository.fetch(SearchedNote.search("winter"))
          #expect(list.allSatisfy(matching.contains), "\(random.hint)")
          // The order is that of the numbers that the watch began with, until it reads anew.
          if hasSaved, ranking == nil || watch.rereadCount != rereadCount {
            let all = try repository.fetch(SearchedNote.all)
            ranking = NaiveRanking(of: ["winter"], in: all.map(\.weighted))
            rereadCount = watch.rereadCount
          }
          var scores: [Int: NaiveScore] = [:]
          for note in matching { scores[note.id] = ranking?.score(of: note.weighted) }
          #expect(isRanked(list.map(\.id), by: scores), "\(random.hint)")
          let worst = list.last.flatMap { scores[$0.id]?.value } ?? 0
          let shown = Set(list.map(\.id))
          #expect(
            scores.allSatisfy { shown.contains($0.key) || $0.value.value < worst + 1e-9 },
            "\(random.hint)")
        }
        #expect(steps > 20)
        if limit == 10 { #expect((1...20).contains(watch.rereadCount), "\(watch.rereadCount)") }
      }
      try repository.eraseAllData()
    }
  }

  @Test(
    "a watched search is ranked anew when the collection has doubled by what does not match, too")
  func grownByOthers() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: SearchedNote.self)
      let query = SearchedNote.search("blue OR winter").limit(1)
      var watch = ResultWatch(
        store, query.selection, RowReader<SearchedNote, SearchedNote>(query.selection))
      var list: [SearchedNote] = []
      func expectFetched(_ place: SourceLocation = #_sourceLocation) throws {
        if let change = try watch.next(skippingTo: 0) { list.apply(change) }
        #expect(list == (try repository.fetch(query)), sourceLocation: place)
      }
      try expectFetched()
      // From nothing.
      try repository.save([
        SearchedNote(id: 1, title: "blue blue blue one two three"),
        SearchedNote(id: 2, title: "winter one two three four five"),
      ])
      try repository.save((3..<31).map { SearchedNote(id: $0, title: "blue") })
      try expectFetched()
      #expect(list.map(\.id) == [2])
      try repository.save((100..<130).map { SearchedNote(id: $0, title: "snow") })
      try expectFetched()
      try repository.save((1000..<1300).map { SearchedNote(id: $0, title: "winter snow train") })
      try expectFetched()
      #expect(list.map(\.id) == [3])
      let rereadCount = watch.rereadCount
      // No step for each document that does not match.
      try repository.save(SearchedNote(id: 131, title: "snow"))
      #expect(try watch.next(skippingTo: 0) == nil)
      #expect(watch.rereadCount == rereadCount)
    }
  }

  @Test(
    "what a query is ranked and marked by is its first search that does more than leave something out"
  )
  func excludingFirst() throws {
    let repository = InMemoryRepository(of: SearchedNote.self)
    try repository.save([
      SearchedNote(id: 1, title: "soup and bread and more of it"),
      SearchedNote(id: 2, title: "soup bar"),
      SearchedNote(id: 3, title: "soup"),
    ])
    let base = SearchedNote.search("-bar")
    let query = base.search("soup").sorted(by: \.isPinned).sortedByRank()
    #expect(try repository.fetch(query).map(\.id) == [3, 1])
    #expect(query.highlights(in: "soup bar").count == 1)
    let same = base.sorted(by: \.isPinned)
    #expect(same.sortedByRank() == same)
  }

  @Test("texts that ask for nothing, or only exclude, and lists that are narrowed by a search")
  func edges() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: SearchedNote.self)
      let notes = [
        SearchedNote(id: 1, title: "Blå vinter", body: "snow on the fjord"),
        SearchedNote(id: 2, title: "Summer", tags: ["fjord", "blue sea"]),
        SearchedNote(id: 3, title: "Winter", place: .init(name: "Blåfjell")),
      ]
      try repository.save(notes)
      func ids(_ query: Query<SearchedNote>) throws -> [Int] {
        try repository.fetch(query).map(\.id)
      }
      #expect(try ids(SearchedNote.search("")) == [1, 2, 3])
      #expect(try ids(SearchedNote.search("  \"-* ")) == [1, 2, 3])
      #expect(try ids(SearchedNote.search("-fjord")) == [3])
      #expect(try ids(SearchedNote.search("bla")) == [1])
      #expect(try ids(SearchedNote.search("bla", prefix: .last)) == [3, 1])
      #expect(try ids(SearchedNote.search("wimter", allowingTypos: true)) == [3])
      #expect(try ids(SearchedNote.search("\"blue sea")) == [2])
      #expect(try ids(SearchedNote.where { $0.id > 1 }.search("fjord")) == [2])
      let many = (0..<10_000).map { "w\($0)" }.joined(separator: " ")
      #expect(try ids(SearchedNote.search(many)) == [])
      #expect(try repository.delete(SearchedNote.search("winter")) == 1)
      #expect(try ids(SearchedNote.all) == [1, 2])
      try repository.save([], clearBeforeSaving: SearchedNote.search("snow"))
      #expect(try ids(SearchedNote.all) == [2])
    }
  }

  @Test("a search tells how it was answered, and what it has found in a text")
  func explained() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: SearchedNote.self)
      try repository.save((0..<500).map { SearchedNote.random($0, &random) })
      let query = SearchedNote.search("\"blue winter\"")
      #expect(
        "\(try query.limit(5).explain(in: store))".hasPrefix(
          "search index \"search\" (title, body, tags, place.name): "))
      #expect("\(query)".hasSuffix("sorted by rank descending"))
      let text = "It was a\nBlue  WINTER, and blue the winter was."
      #expect(
        query.snippet(of: text).marked(from: "[", to: "]")
          == "It was a [Blue WINTER], and blue the winter was.")
      #expect(query.highlights(in: text).map { String(text[$0]) } == ["Blue  WINTER"])
      #expect(SearchedNote.all.snippet(of: text, wordCount: 2).text == "It was")
    }
  }

  struct Plain: Codable, Identifiable, Equatable {
    var id: Int
    var title: String
    var tags: Set<String> = []
    var place: Place?

    struct Place: Codable, Equatable { var name: String }
  }

  @Test("a plain type, and a property that is computed, are searched without an index")
  func plain() throws {
    let plain = SearchIndex<CodableDocument<Plain>>(
      .field(\.title, weight: 3), .field(\.tags), .field(\.place.name))
    try withTemporaryStore { store in
      let values = [
        Plain(id: 1, title: "Summer", tags: ["fjord", "winter"]),
        Plain(id: 2, title: "Winter"), Plain(id: 3, title: "Sea", place: .init(name: "Winterthur")),
      ]
      let memory = InMemoryRepository(of: Plain.self)
      try memory.save(values)
      let repository = store.repository(of: Plain.self)
      try repository.save(values)
      #expect(try repository.fetch(plain("winter")).map(\.id) == [2, 1])
      #expect(try memory.fetch(plain("winter*")).map(\.id) == [2, 3, 1])
      #expect(try repository.fetch(plain("winter*")) == memory.fetch(plain("winter*")))
      #expect(try repository.page(plain("winter*").limit(1)).models.map(\.id) == [2])

      let notes = store.repository(of: SearchedNote.self)
      try notes.save(SearchedNote(id: 1, title: "Blue sea"))
      let computed = SearchIndex<SearchedNote>(.field(\.heading))
      #expect(try notes.fetch(computed("no.1")).count == 1)
      #expect(try notes.fetch(computed("blue")).isEmpty)
    }
  }

  @Test("a damaged search index is no error for those who search, and is built anew")
  func damaged() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(10) {
      let events = Locked<[LogEvent]>([])
      var options = StoreOptions()
      options.log = { event in events.withLock { $0.append(event) } }
      let folder = TestFolder()
      let store = try Store(at: folder.store, options: options)
      do {
        let repository = store.repository(of: SearchedNote.self)
        try repository.save((0..<600).map { SearchedNote.random($0, &random) })
        let queries = [
          SearchedNote.search("winter"), SearchedNote.search("\"blue winter\"").limit(30),
          SearchedNote.search("snow").where { $0.isPinned }.limit(9),
          SearchedNote.search("snow").sorted(by: \.title),
        ]
        let found = try queries.map { try repository.fetch($0) }
        try store.engine.writer.run {
          try store.engine.perform { scope in
            guard let index = scope.catalogue["SearchedNote"]?.indexes.first(where: \.isOfWords)
            else { return }
            for _ in 0..<4 {
              try scope.transaction.damageRecord(in: index.database, using: &random)
            }
            scope.hasWrittenMore = true
          }
        }
        for (query, expected) in zip(queries, found) {
          #expect(try repository.fetch(query) == expected, "\(query) \(random.hint)")
        }
        let metCount = events.withLock { $0.count { $0.message.contains("is damaged") } }
        let mendedCount = events.withLock { $0.count { $0.message.contains("built anew") } }
        #expect(metCount <= 1 + mendedCount, "\(random.hint)")
        while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
        for (query, expected) in zip(queries, found) {
          #expect(try repository.fetch(query) == expected, "\(query) \(random.hint)")
        }
        #expect(store.engine.damagedSearches.first == nil)
        // What no search met is found by a check.
        if try !store.check().isSound { try store.collection("SearchedNote").rebuildIndexes() }
      }
      try verifyAndClose(store)
    }
  }

  @Test("collections without a type are searched by their search index, or in every text")
  func withoutType() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: SearchedNote.self)
      try repository.save((0..<300).map { SearchedNote.random($0, &random) })
      let collection = store.collection("SearchedNote")
      func ids(_ query: DynamicQuery) throws -> [Value?] {
        try collection.fetch(query).map { $0["id"] }
      }
      let typed = try repository.fetch(SearchedNote.search("blue winter")).map {
        Value?.some(.integer(Int64($0.id)))
      }
      #expect(try ids(.search("blue winter")) == typed, "\(random.hint)")
      let fields = ["title", "body", "tags", "place.name"].compactMap { FieldPath($0) }
      #expect(
        try ids(.search("blue winter", in: fields)) == typed)
      let plan = try collection.explain(.search("blue winter").limit(3))
      #expect("\(plan)".hasPrefix("search index"), "\(plan)")
      try collection.dropIndex("search")
      #expect(Set(try ids(.search("blue winter"))).isSubset(of: Set(typed)))
      #expect(throws: DynamicQueryError.self) {
        try ids(.search("blue", in: [FieldPath(field: "isPinned")]))
      }
      #expect(throws: DynamicQueryError.self) {
        try ids(.search("blue", in: [FieldPath(field: "nothing")]))
      }
      try collection.createSearchIndex(on: [.field("title", weight: 2)], name: "titles")
      #expect(try collection.indexes().map(\.name) == ["titles"])
      #expect("\(try collection.explain(.search("blue")))".hasPrefix("search index \"titles\""))
      #expect(throws: StoreError.self) { try collection.createSearchIndex(on: ["isPinned"]) }
      #expect(throws: StoreError.self) {
        try collection.createSearchIndex(on: [.field("title", weight: 101)])
      }
    }
  }
}
