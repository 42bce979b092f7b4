import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("All of a file, or nothing")
struct ImportAtomicityTests {
  private func lines(_ count: Int, _ line: (Int) -> String) -> ImportSource {
    .text((0..<count).map { line($0) + "\n" }.joined(), name: "t.ndjson")
  }

  private func options(
    atomically: Bool = false, isDryRun: Bool = false
  ) -> ImportOptions {
    var options = ImportOptions()
    options.batchDocumentCount = 100
    options.atomically = atomically
    options.isDryRun = isDryRun
    return options
  }

  @Test(
    "a late number that would round an earlier one is refused at its line, and changes nothing",
    arguments: [("9007199254740993", "1.5"), ("1.5", "9007199254740993"), ("-1", "1e300")])
  func widening(_ early: String, _ late: String) throws {
    for isDryRun in [false, true] {
      try withTemporaryStore { store in
        let source = lines(3_000) { index in
          let number = index == 500 ? early : index == 2_500 ? late : "\(index)"
          return #"{"id": \#(index), "x": \#(number)}"#
        }
        guard early != "-1" else {
          try store.importDocuments(
            from: source, into: "c", key: "id", options: options(isDryRun: isDryRun))
          return
        }

        let error = try refusal(in: store) {
          try store.importDocuments(
            from: source, into: "c", key: "id", options: options(isDryRun: isDryRun))
        }

        #expect(error?.position == TextPosition(line: 2_501, column: 19))
        #expect(try store.collectionNames().isEmpty)
      }
    }
  }

  @Test("a late duplicate under a unique index is refused at its line, by a dry run too")
  func unique() throws {
    for isDryRun in [false, true] {
      try withTemporaryStore { store in
        let people = store.collection("c")
        try people.save([["id": -1, "email": "z"]], keyField: "id")
        try people.createIndex(on: "email", unique: true)
        let before = try people.fetch(DynamicQuery())

        let error = #expect(throws: ImportError.self) {
          try store.importDocuments(
            from: lines(3_000) { #"{"id": \#($0), "email": "e\#($0 == 2_500 ? 5 : $0)"}"# },
            into: "c", key: "id", options: options(isDryRun: isDryRun))
        }

        #expect(error?.position == TextPosition(line: 2_501, column: 1))
        #expect(error?.found == #"email "e5" in the unique index `email`, as c 5 has"#)
        #expect(try people.fetch(DynamicQuery()) == before)
        try store.importDocuments(
          from: lines(3_000) { #"{"id": \#($0), "email": "e\#($0)"}"# }, into: "c", key: "id",
          options: options(isDryRun: isDryRun))
        #expect(try people.count() == (isDryRun ? 1 : 3_001))
      }
    }
  }

  @Test("a refusal by a type's unique index leaves neither documents nor the type behind")
  func typed() throws {
    try withTemporaryStore { store in
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: lines(300) { #"{"id": \#($0), "email": "e\#($0 % 299)"}"# }, into: Mail.self,
          options: options(atomically: true))
      }

      #expect(error?.line == 300)
      #expect(try store.collectionNames().isEmpty)
      try store.importDocuments(
        from: lines(300) { #"{"id": \#($0), "email": "e\#($0)"}"# }, into: Mail.self)
      #expect(try store.repository(of: Mail.self).get(7)?.email == "e7")
    }
  }

  @Test("an atomic import that is stopped leaves no field behind that it would have declared")
  func stopped() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1, "a": 1]], keyField: "id")
      let before = try store.statistics().collections

      #expect(throws: ImportInterrupted.self) {
        try store.importDocuments(
          from: lines(3_000) { #"{"id": \#($0), "b": "x"}"# }, into: "c", key: "id",
          options: options(atomically: true)
        ) { if $0.phase == .saving, $0.completed >= 10_000 { throw CancellationError() } }
      }

      #expect(try store.statistics().collections == before)
    }
  }

  @Test("documents with one key are refused, with the places of both and how many there are")
  func repeatedKeys() throws {
    for isTable in [true, false] {
      try withTemporaryStore { store in
        let source =
          isTable
          ? ImportSource.text("k,v\nA,1\nB,2\nA,3\nA,1\n", name: "t.csv")
          : .text(
            #"[{"k": "A"},"# + "\n" + #"{"k": "B"},"# + "\n" + #"{"k": "A"}, {"k": "A"}]"#)

        let error = try refusal(in: store) {
          try store.importDocuments(from: source, into: "c", key: "k")
        }

        #expect(error?.kind == .duplicateKey)
        #expect(error?.line == (isTable ? 4 : 3))
        #expect(error?.found.contains("2 of 4 documents") == true, "\(error!)")
        #expect(
          error?.found.contains("as the document at \(isTable ? 2 : 1):") == true, "\(error!)")
      }
    }
  }

  @Test("random keys are refused exactly where one stands twice")
  func randomKeys() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(20) {
      let keys = (0..<1 + random.below(60)).map { _ in random.below(400) }
      try withTemporaryStore { store in
        var options = ImportOptions()
        options.isDryRun = true
        let text = keys.map { "{\"id\": \($0)}\n" }.joined()
        do {
          try store.importDocuments(
            from: .text(text, name: "t.ndjson"), into: "c", key: "id", options: options)
          #expect(Set(keys).count == keys.count, "\(random.hint)")
        } catch let error as ImportError {
          var seen: Set<Int> = []
          let second = keys.firstIndex { !seen.insert($0).inserted }
          #expect(error.line == second.map { $0 + 1 }, "\(random.hint)")
        }
      }
    }
  }

  @Test("keys that are made keep the order of the file, and are refused beside others")
  func madeKeys() throws {
    var options = ImportOptions()
    options.makesKeys = true
    try withTemporaryStore { store in
      let rows = (0..<2_500).map { "\($0 % 7),\($0)\n" }.joined()
      for name in ["t.csv", "t.ndjson"] {
        let text =
          name == "t.csv"
          ? "a,b\n" + rows
          : (0..<2_500).map { "{\"a\": \($0 % 7), \"b\": \($0)}\n" }.joined()
        try store.importDocuments(
          from: .text(text, name: name), into: name, key: "id", options: options)

        let documents = try store.collection(name).fetch(DynamicQuery())
        #expect(documents.map { $0["b"] } == (0..<2_500).map { .integer($0) })
        let error = try refusal(in: store) {
          try store.importDocuments(
            from: .text(text, name: name), into: "d", key: "b", options: options)
        }
        #expect(error?.line == 1)
      }
    }
  }
}

@Document
private struct Mail: Equatable {
  var id: Int
  @Indexed(unique: true) var email: String
}
