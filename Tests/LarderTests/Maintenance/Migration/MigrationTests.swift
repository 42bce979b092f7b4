import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct MigrationTests {
  // MARK: Documents

  @Test("a migration gives a field another kind, and today's type reads every document")
  func anotherKind() throws {
    try withTemporaryStore { store in
      _ = try store.numbers(2500)
      #expect(throws: StoreError.self) { try store.repository(of: Number.self).count() }

      let report = try store.migrate(Number.self, to: 2, convert)

      #expect(report == MigrationReport(version: 2, migrated: 2500, deleted: 0))
      let numbers = try store.repository(of: Number.self).fetch(Number.all)
      #expect(numbers == (0..<2500).map { Number(id: $0, text: $0, changes: 1) })
      #expect(try store.repository(of: Number.self).count(Number.where { $0.text >= 2490 }) == 10)
      #expect(try store.version(of: Number.self) == 2)
      // A save by the type finds the bytes that it would write.
      #expect(try store.repository(of: Number.self).save(numbers).unchanged == 2500)
    }
  }

  @Test("a migration that changes nothing keeps every kind of field, to the last bit")
  func identity() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let everything = store.repository(of: Everything.self)
      let documents = (0..<50).map { Everything(id: $0, &random) }
      try everything.save(documents)
      let before = try documents.map { try #require(try store.valueBytes(of: $0.id)) }

      try store.migrate(Everything.self, to: 2) { _ in }
      try store.migrate(Everything.self, to: 3) { $0["text"] = $0["text"] }

      let after = try documents.map { try #require(try store.valueBytes(of: $0.id)) }
      #expect(after == before, "\(random.hint)")
      #expect(try everything.save(everything.fetch(Everything.all)).unchanged == 50)
      #expect(store.engine.catalogue["Everything"]?.documentTable ?? 0 > 0)
    }
  }

  @Test("a value is coerced to the kind that its field has, where it fits")
  func coerced() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Date>.self).save(One(Date(timeIntervalSinceReferenceDate: 0)))
      try store.repository(of: One<Date>.self)
        .save(One(Date(timeIntervalSinceReferenceDate: 5), id: "b"))

      try store.migrate(One<Date>.self, to: 2) { one in
        if one.key == "b" { one["value"] = "2001-01-01T00:01:00Z" }
      }

      #expect(
        try store.repository(of: One<Date>.self).fetch(One<Date>.all).map(\.value)
          == [0, 60].map(Date.init(timeIntervalSinceReferenceDate:)))
    }
  }

  @Test("a field's kind is widened where that is enough, also behind the first batch")
  func widened() throws {
    try withTemporaryStore { store in
      let ones = store.repository(of: One<Int32>.self)
      try ones.save((0..<5).map { One(Int32($0), id: "\($0)") })

      try store.collection("One").migrate(to: 2, batchCount: 2) { one in
        if one.key == "3" { one["value"] = 0.5 }
        if one.key == "4" { one["value"] = .null }
      }

      #expect(
        try store.repository(of: One<Double?>.self).fetch(One<Double?>.all).map(\.value)
          == [0, 1, 2, 0.5, nil])
    }
  }

  @Test("a field that holds two kinds is refused by the key of the document that differs")
  func mixedKinds() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(6)
      for batchCount in [1, 2, 6] {
        #expect(
          throws: StoreError.valueRefused(
            collection: "Number", key: "4", field: "text", found: "the string \"4\"",
            expected: "int64")
        ) {
          try numbers.migrate(to: 2, batchCount: batchCount) { number in
            if number.key == 4 { return }
            if case .string = number["text"] { try convert(&number) }
          }
        }
      }
      try numbers.migrate(to: 2, convert)
      #expect(try numbers.documents() == converted(6))
    }
  }

  @Test("a field's kind is replaced where documents before hold nil or an empty array in it")
  func emptyBefore() throws {
    try withTemporaryStore { store in
      let lists = store.collection("List")
      try lists.save(
        [
          ["id": 1, "list": [], "maybe": "x"], ["id": 2, "list": [1], "maybe": .null], ["id": 3],
          ["id": 4, "list": [2], "maybe": "y"],
        ], keyField: "id")

      try lists.migrate(to: 2, batchCount: 1) { document in
        guard case .array(let list)? = document["list"] else { return }
        document["list"] = .array(list.map { .array([$0]) })
        document["maybe"] = document.key == 4 ? .bool(true) : .null
      }

      let expected: [DynamicDocument] = [
        ["id": 1, "list": [], "maybe": .null], ["id": 2, "list": [[1]], "maybe": .null],
        ["id": 3], ["id": 4, "list": [[2]], "maybe": true],
      ]
      #expect(try lists.documents() == expected)
      #expect(throws: StoreError.self) {
        try lists.migrate(to: 3, batchCount: 1) { $0["list"] = $0.key == 4 ? ["x"] : $0["list"] }
      }
    }
  }

  @Test("a store that is nearly full is migrated in smaller batches", arguments: [false, true])
  func nearlyFull(isAsynchronous: Bool) async throws {
    let folder = TestFolder()
    var options = StoreOptions()
    options.quotaByteCount = 8 << 20
    let store = try Store(at: folder.store, options: options)
    let notes = store.collection("Note")
    let text = Value.string(String(repeating: "x", count: 700))
    var documents: [DynamicDocument] = []
    while try store.statistics().usedByteCount < 122 << 16 {
      let start = documents.count
      documents += (start..<(start + 100)).map { ["id": .integer(Int64($0)), "text": text] }
      try notes.save(Array(documents[start...]), keyField: "id")
    }

    if isAsynchronous {
      try await notes.migrate(to: 2) { $0["extra"] = "thirty more bytes of text here" }
    } else {
      _ = try OnThread {
        try notes.migrate(to: 2) { $0["extra"] = "thirty more bytes of text here" }
      }.value()
    }

    let expected = documents.map { document in
      var document = document
      document["extra"] = "thirty more bytes of text here"
      return document
    }
    #expect(try notes.documents() == expected)
    try verifyAndClose(store)
  }

  @Test("a field may come and go, be renamed, and be of another kind inside a nested document")
  func fields() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save(
        (0..<5).map {
          [
            "id": .integer($0), "old": "x", "gone": true,
            "geo": .document(["lat": .string("\($0)"), "tags": ["a"]]),
            "more": [.document(["n": "1"])],
          ]
        }, keyField: "id")

      try places.migrate(to: 2, batchCount: 2) { place in
        place.rename("old", to: "new")
        place["gone"] = nil
        place["added"] = .array([.integer(1)])
        guard case .document(var geo)? = place["geo"], case .string(let lat)? = geo["lat"] else {
          throw Unexpected()
        }
        geo["lat"] = .double(Double(lat) ?? 0)
        geo["label"] = "home"
        place["geo"] = .document(geo)
        place["more"] = [.document(["n": 1, "m": .null])]
      }

      let expected: [DynamicDocument] = (0..<5).map {
        [
          "id": .integer($0), "new": "x", "added": [1],
          "geo": .document(["lat": .double(Double($0)), "tags": ["a"], "label": "home"]),
          "more": [.document(["n": 1, "m": .null])],
        ]
      }
      #expect(try places.documents() == expected)
    }
  }

  @Test("a field that a migration takes away is no longer required of documents without a type")
  func noLongerRequired() throws {
    try withTemporaryStore { store in
      try store.repository(of: Contact.self).save([Contact(id: "a"), Contact(id: "b")])
      let contacts = store.collection("Contact")
      var document = try #require(try contacts.get("a"))
      document["city"] = nil
      #expect(throws: StoreError.self) { try contacts.save([document]) }

      try store.migrate(Contact.self, to: 2) { $0["city"] = nil }

      try contacts.save([document])
      document["name"] = nil
      #expect(throws: StoreError.self) { try contacts.save([document]) }
    }
  }

  @Test("a record of an earlier version that turns up after a migration is found by a check")
  func strayRecord() throws {
    let store = try Store.temporary()
    let numbers = try store.numbers(3)
    let record = try #require(try store.recordBytes(of: 1, in: "Number"))
    try numbers.migrate(to: 2, convert)
    #expect(try store.check().isSound)

    try store.forceRecord(record, under: 1, in: "Number")

    #expect(
      try store.check().problems.map(\.description) == ["Number 1: it was never migrated"])
    try store.close()
  }

  @Test("documents that the closure deletes are gone, and counted")
  func deleted() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(20)
      let before = try store.statistics().sequence

      let report = try numbers.migrate(to: 2, batchCount: 3) { number in
        if case .integer(let id) = number.key, id % 2 == 1 { return number.delete() }
        try convert(&number)
      }

      #expect((report.migrated, report.deleted) == (20, 10))
      #expect(
        try numbers.documents()
          == converted(20).enumerated().filter { $0.offset % 2 == 0 }.map(\.element))
      #expect(try store.statistics().sequence == before + 20)
    }
  }

  // MARK: Versions

  @Test("a collection without documents begins at the newest version, and nothing is run")
  func fresh() throws {
    try withTemporaryStore { store in
      for version in [2, 7] {
        let report = try store.migrate(Number.self, to: version) { _ in throw Unexpected() }
        #expect(report == MigrationReport(version: version))
      }
      try store.collection("Nothing").migrate(to: 3) { _ in throw Unexpected() }

      let numbers = store.repository(of: Number.self)
      try numbers.save(Number(id: 1, text: 1, changes: 0))
      try store.migrate(Number.self, to: 7) { _ in throw Unexpected() }

      #expect(try store.version(of: Number.self) == 7)
      #expect(try store.collection("Nothing").version() == 3)
      #expect(try store.collection("unheard of").version() == 1)
      try store.migrate(Number.self, to: 8) { $0["text"] = 2 }
      #expect(try numbers.fetch(Number.all) == [Number(id: 1, text: 2, changes: 0)])
    }
  }

  @Test("steps are run one after the other, each once, whatever kinds lie in between")
  func chain() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(30)
      func steps() throws -> [MigrationReport] {
        [
          try numbers.migrate(to: 2, batchCount: 7, convert),
          try numbers.migrate(to: 3, batchCount: 7) { number in
            guard case .integer(let value)? = number["text"] else { throw Unexpected() }
            number["text"] = .array([.integer(value)])
          },
          try numbers.migrate(to: 4, batchCount: 7) { number in
            guard case .array(let values)? = number["text"] else { throw Unexpected() }
            number["text"] = .string("\(values[0])!")
          },
        ]
      }

      #expect(try steps().map(\.migrated) == [30, 30, 30])
      let before = try (store.statistics(), numbers.documents())
      #expect(try steps().map(\.migrated) == [0, 0, 0])

      #expect(try steps().map(\.version) == [4, 4, 4])
      #expect(try store.statistics() == before.0)
      #expect(before.1.map { $0["text"] } == (0..<30).map { .string("\($0)!") })
      #expect(try numbers.documents() == before.1)
    }
  }

  @Test("a step that is left out is a typed error that changes nothing")
  func skipped() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(3)

      #expect(throws: StoreError.versionSkipped(collection: "Number", stored: 1, asked: 3)) {
        try numbers.migrate(to: 3, convert)
      }
      #expect(try numbers.version() == 1)
      #expect(try numbers.documents() == numbered(3))
      #expect(try numbers.save([["id": 9]]).inserted == 1)
    }
  }

  @Test("a version below the one that is stored is left alone, and told")
  func downgrade() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(3)
      try numbers.migrate(to: 2, convert)
      try numbers.migrate(to: 3) { _ in }

      #expect(try numbers.migrate(to: 2, convert) == MigrationReport(version: 3))
      #expect(try numbers.migrate(to: 0, convert) == MigrationReport(version: 3))
      #expect(try numbers.documents() == converted(3))
    }
  }

  @Test("a type with keys of another kind migrates nothing")
  func keyKind() throws {
    try withTemporaryStore { store in
      try store.collection("One").save([["id": 1, "value": 1]], keyField: "id")

      #expect(
        throws: StoreError.keyKind(collection: "One", stored: .integer, found: .string)
      ) { try store.migrate(One<Int>.self, to: 2) { _ in } }
      #expect(try store.collection("One").version() == 1)
    }
  }
}

extension Store {
  /// What follows the header of an `Everything`, up to the checksum; the header names the table.
  fileprivate func valueBytes(of key: Int) throws -> [UInt8]? {
    let record = try recordBytes(of: key, in: "Everything")
    return try record?.withUnsafeBytes { bytes in
      [UInt8](bytes[try RecordHeader(bytes).headerByteCount..<bytes.count - 8])
    }
  }
}
