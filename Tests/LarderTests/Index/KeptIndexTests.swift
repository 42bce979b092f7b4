import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Indexes of fields that values would give a kind of which there are no indexes.
@Suite struct KeptIndexTests {
  private func withCodes(
    _ body: (Store, DynamicCollection) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let codes = store.collection("Codes")
      try codes.save(
        [["id": 1, "codes": ["A", "B"], "text": ["hello"], "geo": .document(["tags": ["x"]])]],
        keyField: "id")
      try codes.createIndex(on: "codes", unique: true)
      try codes.createIndex(on: "geo.tags", unique: true)
      try codes.createSearchIndex(on: ["text"])
      try body(store, codes)
    }
  }

  @Test(
    "a save without a type is refused where it would make an index impossible, and the index stays",
    arguments: [
      ["id": 3, "codes": ["C", .null]], ["id": 3, "text": ["good", .null]],
      ["id": 3, "geo": .document(["tags": [.null]])],
    ] as [DynamicDocument])
  func refused(_ document: DynamicDocument) throws {
    try withCodes { store, codes in
      let names = try codes.indexes().map(\.name)

      let saves: [() throws -> SaveReport] = [
        { try codes.save([["id": 2], document]) },
        { try store.write { try $0.save([["id": 2], document], in: codes, keyField: nil) } },
      ]
      for save in saves {
        let error = #expect(throws: StoreError.self) { try save() }
        guard case .valueRefused("Codes", _, let field, "[string?]", let expected)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(["codes", "text", "geo.tags"].contains(field))
        #expect(expected.hasPrefix("[string] for the index `"))
      }

      #expect(try codes.indexes().map(\.name) == names)
      #expect(throws: StoreError.self) { try codes.save([["id": 2, "codes": ["A"]]]) }
      #expect(throws: StoreError.self) {
        try codes.save([["id": 2, "geo": .document(["tags": ["x"]])]])
      }
      #expect(try codes.count(DynamicQuery.search("hello")) == 1)
      #expect(try codes.count() == 1)
    }
  }

  @Test("without the index the same save is kept")
  func dropped() throws {
    try withCodes { _, codes in
      try codes.dropIndex("codes")

      #expect(try codes.save([["id": 3, "codes": ["C", .null]]]).inserted == 1)
    }
  }

  @Test("an index that a type makes impossible goes, and the log says so")
  func told() throws {
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let folder = TestFolder()
    let store = try Store(at: folder.url, options: options)
    let tags = store.collection("TagList")
    try tags.save([["id": "a", "tags": ["x"]]], keyField: "id")
    try tags.createIndex(on: "tags")

    try store.repository(of: TagList.self).save(TagList(id: "b", tags: ["y", nil]))

    let told = events.withLock { events in
      events.filter { $0.message.hasPrefix("an index is dropped") }
    }
    #expect(told.count == 1)
    let names = try tags.indexes().map(\.name)
    #expect(names == [])
    try store.close()
  }
}

@Document private struct TagList: Identifiable {
  var id: String
  var tags: [String?]
}
