import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite("a search index with a tokenizer of the app")
struct TokenizerTests {
  private func words(_ random: inout RandomSource) -> [String] {
    random.array(1..<4) { $0.pick(StemmedNote.words) }
  }

  /// Whether these are the notes of some scores, all of them, best first.
  private func areAll(_ found: [Int], rankedBy scores: [Int: NaiveScore]) -> Bool {
    Set(found) == Set(scores.keys) && found.count == scores.count && isRanked(found, by: scores)
  }

  private func ids(_ documents: [DynamicDocument]) -> [Int] {
    documents.compactMap { if case .integer(let id)? = $0["id"] { Int(id) } else { nil } }
  }

  private func finishWork(_ store: Store) throws {
    while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
  }

  private func index(_ store: Store) throws -> IndexDescription {
    try #require(try store.collection("StemmedNote").indexes().first)
  }

  private static let definition = "search index \"search\" (title, body, tags): "

  // MARK: Finding

  @Test("finds and ranks by its words, by the index, by every document and in memory")
  func oracle() throws {
    var random = RandomSource()
    var usedCount = 0
    for round in 0..<repetitions(2) {
      // Reading all of 40 notes is cheaper than the index: of two rounds, one has enough for it.
      let size = round == 0 ? 300 : random.pick([40, 150])
      var notes = (0..<size).map { StemmedNote.random($0, &random) }
      let memory = InMemoryRepository(of: StemmedNote.self)
      try memory.save(notes)
      try withTemporaryStore { store in
        let repository = store.repository(of: StemmedNote.self)
        let collection = store.collection("StemmedNote")
        try repository.save(notes)
        for step in 0..<16 {
          let wanted = words(&random)
          let typed = wanted.joined(separator: " ")
          let query = StemmedNote.search(typed)
          let found = try repository.fetch(query)
          guard let scores = notes.scores(of: wanted, by: .first) else {
            #expect(found == notes, "\(wanted) \(random.hint)")
            continue
          }
          #expect(areAll(found.map(\.id), rankedBy: scores), "\(wanted) \(random.hint)")
          #expect(try repository.fetch(query.limit(5)) == Array(found.prefix(5)))
          #expect(try memory.fetch(query) == found, "\(wanted) \(random.hint)")
          #expect(try query.results(of: notes) == found, "\(wanted) \(random.hint)")
          #expect(try repository.count(query) == found.count)
          #expect(ids(try collection.fetch(.search(typed))) == found.map(\.id))
          let phrase = StemmedNote.search("\"\(typed)\"")
          #expect(try repository.fetch(phrase) == memory.fetch(phrase), "\(wanted) \(random.hint)")
          if "\(try query.limit(5).explain(in: store))".hasPrefix(Self.definition) {
            usedCount += 1
          }
          if round == 0, step == 8 { try collection.dropIndex("search") }
          let id = random.int(0..<notes.count)
          notes[id] = .random(id, &random)
          try repository.save(notes[id])
          try memory.save(notes[id])
        }
        #expect(try store.check().problems.isEmpty)
      }
    }
    #expect(usedCount > 0, "\(random.hint)")
  }

  @Test(
    "a search by another tokenizer, or by the standard one, finds by its own words all the same")
  func otherTokenizer() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let notes = (0..<300).map { StemmedNote.random($0, &random) }
      let repository = store.repository(of: StemmedNote.self)
      try repository.save(notes)
      let plain = SearchIndex<StemmedNote>(
        .field(\.title, weight: 3), .field(\.body), .field(\.tags))
      let second = SearchIndex<StemmedNote>(
        .field(\.title, weight: 3), .field(\.body), .field(\.tags), tokenizer: SuffixStems.second)
      for word in ["boats", "seaman", "boatman", "riverside"] {
        let found = try repository.fetch(second(word)).map(\.id)
        let scores = try #require(notes.scores(of: [word], by: .second))
        #expect(areAll(found, rankedBy: scores), "\(word) \(random.hint)")
        let having = notes.filter {
          ([$0.title, $0.body ?? ""] + $0.tags).joined(separator: " ").split(separator: " ")
            .contains { $0 == word }
        }
        #expect(Set(try repository.fetch(plain(word)).map(\.id)) == Set(having.map(\.id)))
        let standard = DynamicQuery.search(word, tokenizer: StandardTokenizer())
        #expect(
          try store.collection("StemmedNote").fetch(standard).count == having.count,
          "\(word) \(random.hint)")
      }
      let explained = "\(try second("boats").limit(3).explain(in: store))"
      #expect(!explained.hasPrefix("search index"), "\(explained)")
    }
  }

  @Test("snippets and highlights show the words as they stand in the text")
  func snippets() {
    let query = StemmedNote.search("boat fjordside")
    #expect(
      query.snippet(of: "The boats, and the boatside. Fjord!").marked(from: "[", to: "]")
        == "The [boats], and the [boatside]. [Fjord]!")
    let text = "All boats"
    #expect(query.highlights(in: text).map { text[$0] } == ["boats"])
    let untyped = DynamicQuery.search("boat", tokenizer: SuffixStems.first)
    #expect(untyped.snippet(of: "boats").highlights.count == 1)
  }

  @Test("a watched search follows the words of its tokenizer")
  func watching() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: StemmedNote.self)
      let query = StemmedNote.search("boats")
      var watch = ResultWatch(
        store, query.selection, RowReader<StemmedNote, StemmedNote>(query.selection))
      var list: [StemmedNote] = []
      for step in 0..<80 {
        try repository.save(StemmedNote.random(random.int(0..<40), &random))
        if random.once(in: 4) { try repository.delete(key: random.int(0..<40)) }
        if let change = try watch.next(skippingTo: 0) { list.apply(change) }
        let all = try repository.fetch(StemmedNote.all)
        let found = try #require(all.scores(of: ["boats"], by: .first))
        #expect(Set(list.map(\.id)) == Set(found.keys), "\(step) \(random.hint)")
      }
    }
  }

  @Test("the stemmer of the article finds what the article says, and stands there as it is here")
  func article() throws {
    try withTemporaryStore { store in
      let collection = store.collection("boats")
      try collection.save([["id": "a", "name": "Two Boats"]], keyField: "id")
      try collection.createSearchIndex(on: ["name"], tokenizer: PluralStems())
      #expect(try collection.count(.search("boat")) == 1)
      #expect(try collection.count(.search("boats")) == 1)
      #expect(try collection.count(.search("boa")) == 0)
    }
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let here = try text("Tests/LarderTests/Search/StemmedNotes.swift")
    let begin = try #require(here.firstRange(of: "struct PluralStems")).lowerBound
    let end = try #require(here[begin...].firstRange(of: "\n}\n")).upperBound
    let article = try text("Sources/Larder/Documentation.docc/Searching.md")
    #expect(article.contains(here[begin..<end]))
  }

  // MARK: Processes without it

  @Test("a process without the tokenizer keeps documents, and has the index built anew by others")
  func missing() throws {
    var random = RandomSource()
    let folder = TestFolder()
    var notes = (0..<700).map { StemmedNote.random($0, &random) }
    do {
      let store = try Store(at: folder.store)
      try store.repository(of: StemmedNote.self).save(notes)
      try finishWork(store)
      #expect(try index(store).state == .complete)
      try store.close()
    }
    do {
      let events = Locked<[LogEvent]>([])
      var options = StoreOptions()
      options.log = { event in events.withLock { $0.append(event) } }
      let store = try Store(at: folder.store, options: options)
      let collection = store.collection("StemmedNote")
      // What needs no words leaves it as it is.
      try collection.delete(key: .integer(0))
      notes.removeFirst()
      try collection.save([try #require(try collection.fetch(DynamicQuery().limit(1)).first)])
      #expect(try index(store).state == .complete)
      #expect(try index(store).tokenizer == SuffixStems.first.identifier)
      #expect(try !index(store).isMissingTokenizer)
      #expect(try store.check().problems == [])

      let error = #expect(throws: DynamicQueryError.self) {
        try collection.fetch(.search("boats"))
      }
      #expect(error?.part == .tokenizer && "\(error.map { "\($0)" } ?? "")".contains("suffixes.1"))
      let standard = try collection.fetch(.search("boats", tokenizer: StandardTokenizer()))
      #expect(standard.count > 0)

      for id in 701..<704 {
        try collection.save([["id": .integer(Int64(id)), "title": "boats"]])
        notes.append(StemmedNote(id: id, title: "boats"))
        #expect(try index(store).state == .building)
        #expect(try index(store).isMissingTokenizer)
        #expect(try index(store).entryCount == 0)
      }
      try collection.delete(key: .integer(1))
      notes.removeFirst()
      // Waiting for it would have no end, and nothing is left to do here.
      try collection.buildIndexes()
      try collection.rebuildIndexes()
      #expect(try !store.engine.writer.run { try store.engine.workOnIndex() })
      #expect(try index(store).state == .building)
      #expect(
        events.withLock { $0.count { $0.message.contains("a process without its tokenizer") } } == 1
      )
      #expect(try store.check().problems == [])
      try store.close()
    }
    let store = try Store(at: folder.store)
    let repository = store.repository(of: StemmedNote.self)
    let query = StemmedNote.search("boats")
    let scores = try #require(notes.scores(of: ["boats"], by: .first))
    // By every document, and then by the index.
    #expect(areAll(try repository.fetch(query).map(\.id), rankedBy: scores), "\(random.hint)")
    try finishWork(store)
    #expect(try index(store).state == .complete)
    #expect(areAll(try repository.fetch(query).map(\.id), rankedBy: scores), "\(random.hint)")
    #expect("\(try query.limit(3).explain(in: store))".hasPrefix(Self.definition))
    #expect(try repository.fetch(StemmedNote.all) == notes)
    try verifyAndClose(store)
  }

  @Test("the store's options give a process the tokenizer without the type")
  func options() throws {
    var random = RandomSource()
    let folder = TestFolder()
    do {
      let store = try Store(at: folder.store)
      try store.repository(of: StemmedNote.self)
        .save((0..<100).map { .random($0, &random) })
      try store.close()
    }
    var options = StoreOptions()
    options.tokenizers = [SuffixStems.second, SuffixStems.first]
    let store = try Store(at: folder.store, options: options)
    #expect(try Store(at: folder.store).collection("StemmedNote").count() == 100)
    let collection = store.collection("StemmedNote")
    try collection.save([["id": 1000, "title": "boatside"]])
    #expect(try index(store).state == .complete)
    #expect(ids(try collection.fetch(.search("boats"))).contains(1000))
    try verifyAndClose(store)
  }

  @Test("two processes of which one lacks it never find anything else than the documents have")
  func twoProcesses() throws {
    var random = RandomSource()
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let repository = store.repository(of: StemmedNote.self)
    try repository.save((0..<250).map { .random($0, &random) })
    let other = try OtherProcess("untyped", folder.store, "StemmedNote")
    _ = try other.expect("open")
    func compare() throws {
      let notes = try repository.fetch(StemmedNote.all)
      for _ in 0..<3 {
        let wanted = words(&random)
        guard let scores = notes.scores(of: wanted, by: .first) else { continue }
        let found = try repository.fetch(StemmedNote.search(wanted.joined(separator: " ")))
        #expect(areAll(found.map(\.id), rankedBy: scores), "\(wanted) \(random.hint)")
      }
    }
    for _ in 0..<repetitions(12) {
      switch random.int(0..<4) {
      case 0:
        other.say("save \(random.int(0..<300)) \(words(&random).joined(separator: " "))")
        _ = try other.expect("saved")
      case 1:
        other.say("delete \(random.int(0..<300))")
        _ = try other.expect("deleted")
      case 2:
        other.say("search boats")
        _ = try other.expect("refused tokenizer")
      default: try repository.save(.random(random.int(0..<300), &random))
      }
      try compare()
      if random.bool() {
        try finishWork(store)
        try compare()
        #expect(try store.check().problems == [], "\(random.hint)")
      }
    }
    other.kill()
    // What the other process has emptied is known here with the next read.
    _ = try repository.count()
    try finishWork(store)
    #expect(try index(store).state == .complete)
    try compare()
    try verifyAndClose(store)
  }

  // MARK: Another version

  @Test("another version of the tokenizer has the index built anew, and an older app searches on")
  func laterVersion() throws {
    var random = RandomSource()
    let folder = TestFolder()
    let notes = (0..<700).map { StemmedNote.random($0, &random) }
    do {
      let store = try Store(at: folder.store)
      try store.repository(of: StemmedNote.self).save(notes)
      try finishWork(store)
      try store.close()
    }
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    do {
      let store = try Store(at: folder.store, options: options)
      let later = store.repository(of: LaterStemmedNote.self)
      for _ in 0..<2 {
        for word in ["boats", "seaman", "riverside"] {
          let all = try later.fetch(LaterStemmedNote.all)
          let scores = try #require(all.scores(of: [word], by: .second))
          let found = try later.fetch(LaterStemmedNote.search(word)).map(\.id)
          #expect(areAll(found, rankedBy: scores), "\(word) \(random.hint)")
        }
        try later.save(LaterStemmedNote(id: 1000, title: "seaman"))
        try finishWork(store)
      }
      #expect(
        events.withLock { $0.contains { $0.message.contains("its tokenizer is another one") } })
      #expect(try index(store).tokenizer == SuffixStems.second.identifier)
      #expect(try index(store).state == .complete)
      #expect(
        "\(try LaterStemmedNote.search("boats").limit(3).explain(in: store))"
          .hasPrefix(Self.definition))
      try store.close()
    }
    do {
      // The older app, which saves and has the index wait.
      let store = try Store(at: folder.store)
      let repository = store.repository(of: StemmedNote.self)
      try repository.save(StemmedNote(id: 1001, title: "seaside"))
      let all = try repository.fetch(StemmedNote.all)
      let scores = try #require(all.scores(of: ["sea"], by: .first))
      #expect(
        areAll(try repository.fetch(StemmedNote.search("sea")).map(\.id), rankedBy: scores),
        "\(random.hint)")
      #expect(try index(store).tokenizer == SuffixStems.second.identifier)
      #expect(try index(store).isMissingTokenizer)
      try verifyAndClose(store)
    }
    let store = try Store(at: folder.store)
    let later = store.repository(of: LaterStemmedNote.self)
    let all = try later.fetch(LaterStemmedNote.all)
    try finishWork(store)
    #expect(try index(store).state == .complete)
    let scores = try #require(all.scores(of: ["seaside"], by: .second))
    #expect(areAll(try later.fetch(LaterStemmedNote.search("seaside")).map(\.id), rankedBy: scores))
    try verifyAndClose(store)
  }

  @Test("the catalogue says which tokenizer an index has, and it may be changed by hand")
  func catalogue() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      try store.repository(of: StemmedNote.self).save((0..<50).map { .random($0, &random) })
      let known = try #require(store.engine.catalogue["StemmedNote"]?.indexes.first)
      let record = IndexRecord(known.definition, .complete)
      let decoded = try record.encoded(number: 7).withUnsafeBytes {
        try IndexRecord($0, number: 7)
      }
      #expect(decoded == record && record.definition.tokenizer == "suffixes.1")
      try store.migrate(to: 2) { tx in
        try tx.rename(store.collection("StemmedNote"), to: "Letter")
      }
      let letters = store.collection("Letter")
      #expect(try letters.indexes().first?.tokenizer == "suffixes.1")
      #expect(try letters.indexes().first?.state == .complete)
      let fields: [DynamicSearchField] = [.field("title", weight: 3), "body", "tags"]
      try letters.createSearchIndex(on: fields)
      #expect(try letters.indexes().first?.tokenizer == nil)
      try letters.createSearchIndex(on: fields, tokenizer: SuffixStems.second)
      #expect(try letters.indexes().first?.tokenizer == "suffixes.2")
      for identifier in ["", String(repeating: "x", count: 201)] {
        #expect(throws: StoreError.self) {
          try letters.createSearchIndex(
            on: fields, tokenizer: SuffixStems(identifier: identifier, suffixes: []))
        }
      }
      #expect(try letters.indexes().first?.tokenizer == "suffixes.2")
      // The standard one is the standard one, whoever names it.
      try letters.createSearchIndex(on: fields, tokenizer: StandardTokenizer())
      #expect(try letters.indexes().first?.tokenizer == nil)
      try letters.createSearchIndex(
        on: fields, tokenizer: SuffixStems(identifier: "standard.2", suffixes: ["s"]))
      #expect(try letters.indexes().first?.tokenizer == "standard.2")
    }
  }

  // MARK: Hostile ones

  /// Gives whatever a program could.
  struct Hostile: Tokenizer {
    let identifier: String
    let give: @Sendable (String) -> [SearchWord]

    func words(in text: String) -> [SearchWord] { give(text) }
  }

  static let hostileOnes: [Hostile] = [
    Hostile(identifier: "none") { _ in [] },
    Hostile(identifier: "empty") { _ in Array(repeating: SearchWord("", utf8Range: 0..<0), count: 9)
    },
    Hostile(identifier: "zero") { text in
      [SearchWord("a\0b", utf8Range: 0..<1), SearchWord("\0", utf8Range: 0..<1)]
        + StandardTokenizer().words(in: text)
    },
    Hostile(identifier: "huge") { text in
      [1, 63, 64, 65, 5000].flatMap { count in
        ["a", "é", "語", "👩‍👩‍👧"].map {
          SearchWord(String(repeating: $0, count: count), utf8Range: 0..<count)
        }
      } + StandardTokenizer().words(in: text)
    },
    Hostile(identifier: "many") { text in
      (0..<3000).map { SearchWord("w\($0 % 300)", utf8Range: $0..<$0 + 5) }
    },
    Hostile(identifier: "ranges") { text in
      [(Int.min, Int.max), (-5, -1), (.max, .max), (7, 90), (0, 0), (3, 2000), (1, 2)].map {
        SearchWord("boat", utf8Range: $0..<$1, kind: .pair)
      } + StandardTokenizer().words(in: text)
    },
    Hostile(identifier: "backwards") { text in StandardTokenizer().words(in: text).reversed() },
    Hostile(identifier: "overlapping") { text in
      StandardTokenizer().words(in: text).flatMap { word in
        (0..<4).map {
          SearchWord(
            word.text,
            utf8Range: max(0, word.utf8Range.lowerBound - $0)..<word.utf8Range.upperBound,
            kind: [.word, .pair, .tail, .word][$0])
        }
      }
    },
    Hostile(identifier: "random") { text in
      (0..<Int.random(in: 0..<40)).map { _ in
        let start = Int.random(in: -3..<200)
        return SearchWord(
          ["boat", "sea", "s", "", "語"].randomElement() ?? "",
          utf8Range: start..<start + Int.random(in: 0..<30),
          kind: [.word, .pair, .tail].randomElement() ?? .word)
      }
    },
  ]

  @Test("highlights and snippets show whole words of a tokenizer, in whatever order it gives them")
  func wholeWords() throws {
    let parts = Hostile(identifier: "parts") { _ in
      [
        SearchWord("call", utf8Range: 0..<4), SearchWord("get", utf8Range: 5..<8),
        SearchWord("user", utf8Range: 8..<12), SearchWord("name", utf8Range: 12..<16),
        SearchWord("getusername", utf8Range: 5..<16), SearchWord("here", utf8Range: 17..<21),
      ]
    }
    let backwards = Hostile(identifier: "backwards") {
      StandardTokenizer().words(in: $0).reversed()
    }
    func marked(_ text: String, _ word: String, _ tokenizer: Hostile, _ count: Int = 24) -> String {
      Snippet(
        of: text, for: SearchExpression(word), by: SearchTokenizer(tokenizer), wordCount: count
      ).marked(from: "[", to: "]")
    }
    #expect(marked("call getUserName here", "getusername", parts) == "call [getUserName] here")
    #expect(marked("call getUserName here", "user", parts) == "call get[User]Name here")
    #expect(marked("call getUserName here", "getusername", parts, 2) == "… [getUserName] here")
    #expect(marked("green red blue", "blue", backwards) == "green red [blue]")
    #expect(marked("green red blue", "green", backwards) == "[green] red blue")
    #expect(marked("green red blue", "red", backwards, 1) == "… [red] …")
  }

  @Test(
    "whatever a tokenizer gives, documents stay as they are and nothing traps",
    arguments: hostileOnes)
  func anything(_ tokenizer: Hostile) throws {
    var random = RandomSource()
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let repository = store.repository(of: SearchedPlain.self)
    let search = SearchIndex<SearchedPlain>(.field(\.title), tokenizer: tokenizer)
    let isSteady = tokenizer.identifier != "random"
    func text() -> String {
      random.array(0..<12) { $0.pick(StemmedNote.words + ["語東", "é", "👩‍👧", "\0", "\"", "-"]) }
        .joined(separator: " ")
    }
    var texts = (0..<20).map { _ in text() }
    try repository.save(texts.enumerated().map { SearchedPlain(id: $0, title: $1) })
    try store.collection("SearchedPlain")
      .createSearchIndex(on: ["title"], tokenizer: tokenizer)
    for _ in 0..<6 {
      let id = random.int(0..<texts.count)
      texts[id] = text()
      try repository.save(SearchedPlain(id: id, title: texts[id]))
      let typed = text() + random.pick(["", "*", "\"", " "])
      let query = search(
        typed, prefix: random.pick([.last, .marked]), allowingTypos: random.bool())
      let found = try repository.fetch(query)
      let memory = InMemoryRepository(of: SearchedPlain.self)
      try memory.save(try repository.fetch(SearchedPlain.all))
      let others = try memory.fetch(query)
      if isSteady { #expect(found == others, "\(typed) \(random.hint)") }
      for text in texts.prefix(2) {
        let snippet = query.snippet(of: text, wordCount: random.int(1..<9))
        #expect(snippet.highlights.allSatisfy { !snippet.text[$0].isEmpty })
        for range in query.highlights(in: text) { #expect(!text[range].isEmpty) }
      }
      if random.once(in: 3) { try finishWork(store) }
    }
    if isSteady { #expect(try store.check().problems == []) }
    try store.collection("SearchedPlain").rebuildIndexes()
    #expect(try repository.fetch(SearchedPlain.all).map(\.title) == texts, "\(random.hint)")
    try repository.delete(SearchedPlain.where { $0.id < 10 })
    #expect(try repository.fetch(SearchedPlain.all).map(\.title) == Array(texts.dropFirst(10)))
    try store.collection("SearchedPlain").dropIndex("search")
    try verifyAndClose(store)
  }
}

@Document
struct SearchedPlain: Identifiable, Equatable {
  var id: Int
  var title: String
}
