import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Suite("Columns of several kinds")
struct CSVMixedTests {
  @Test("a column whose name has two meanings is the field that an export writes so")
  func ambiguous() throws {
    try withTemporaryStore { store in
      let places = store.collection("c")
      try places.save(
        [
          ["id": 1, "geo": .document(["lat": 5]), "geo.lat": 9], ["id": 2, "a.b": 1, "`a.b`": 2],
        ], keyField: "id")
      let before = try places.fetch(DynamicQuery())
      let scratch = try ScratchFolder()
      try store.export(collection: "c", as: .csv, to: .file(scratch.file("t.csv")))

      try store.importDocuments(from: .file(scratch.file("t.csv")), into: "c", key: "id")
      #expect(try places.fetch(DynamicQuery()) == before)
      try store.importDocuments(
        from: .text("id,geo.lat,`geo.lat`\n1,6,7\n", name: "t.csv"), into: "c", key: "id")
      #expect(try places.get(1) == ["id": 1, "geo": .document(["lat": 6]), "geo.lat": 7])
    }
  }

  @Test(
    "each field of a column of any kind is what it would be in a column of its own",
    arguments: [true, false])
  func mixed(isByType: Bool) throws {
    let fields = [
      "5", "-7", "2.5", "1e+5", "1e5", "007", "true", "FALSE", "t", "x", "\"5\"", "\"\"", "", "\\N",
      "2026-03-01T09:30:00.250Z", "2026-03-01", "9223372036854775808", "9007199254740993", "-0",
      "NaN",
      "[1]", "{}", "null", "\"\"\"a\"\"\"", "0.30000000000000004", "18446744073709551616",
    ]
    let rows = fields.enumerated().map { "\($0),\($1)\n" }
    var options = ImportOptions()
    if isByType { options.types = ["x": .any] } else { options.allowsMixedKinds = true }
    try withTemporaryStore { store in
      for _ in 0..<2 {
        let report = try store.importDocuments(
          from: .text("id,x\n" + rows.joined(), name: "t.csv"), into: "c", key: "id",
          options: options)
        #expect(report.inferredFields.map(\.kind) == ["int64", "any"])
      }

      for (id, row) in rows.enumerated() {
        try withTemporaryStore { other in
          try other.importDocuments(
            from: .text("id,x\n\(row)", name: "t.csv"), into: "c", key: "id")
          let (mixed, alone) = try (
            store.collection("c").get(.integer(Int64(id))),
            other.collection("c").get(.integer(Int64(id)))
          )
          #expect(mixed.map(exact) == alone.map(exact), "\(row)")
        }
      }
    }
  }

  @Test("fields that a collection's kind does not hold are refused, and taken with mixed kinds")
  func mixedWithStored() throws {
    let first = Date(timeIntervalSinceReferenceDate: 0)
    let text = "id,n,on,f\n2,x,2001-01-01,yes\n3,2.5,soon,true\n"
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save([["id": 1, "n": 1, "on": .date(first), "f": true]], keyField: "id")
      let error = try refusal(in: store) {
        try store.importDocuments(from: .text(text, name: "t.csv"), into: "c", key: "id")
      }
      #expect(error?.found == "`x` in `n`" && error?.expected.contains("--mixed") == true)
      var options = ImportOptions()
      options.allowsMixedKinds = true

      try store.importDocuments(
        from: .text(text, name: "t.csv"), into: "c", key: "id", options: options)

      let documents = try collection.fetch(DynamicQuery())
      #expect(documents.map { $0["n"] } == [1, "x", 2.5])
      #expect(documents.map { $0["on"] } == [.date(first), .date(first), "soon"])
      #expect(documents.map { $0["f"] } == [true, "yes", true])
    }
  }

  @Test("a later row of another kind makes a column of any kind, however many rows came before")
  func lateMixed() throws {
    let rows = (0..<1_500).map { $0 == 1_400 ? "\($0),x,1" : "\($0),\($0),y" }
    var options = ImportOptions()
    options.allowsMixedKinds = true
    try withTemporaryStore { store in
      let text = (["id,n,t"] + rows).joined(separator: "\n")
      try store.importDocuments(
        from: .text(text, name: "t.csv"), into: "c", key: "id", options: options)

      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents[7]["n"] == 7 && documents[1_400]["n"] == "x")
      #expect(documents[7]["t"] == "y" && documents[1_400]["t"] == 1)
    }
  }

  @Test("an export of a column of any kind comes into another store as JSON of mixed kinds")
  func exportOfMixed() throws {
    let scratch = try ScratchFolder()
    let file = scratch.file("c.csv")
    let values: [Value] = [
      "x", "5", 5, 2.5, true, ["a"], .date(Date(timeIntervalSinceReferenceDate: 0)),
    ]
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.types = ["x": .any]
      try store.importDocuments(
        from: .text(#"{"id": -1, "x": 1}"#, name: "t.ndjson"), into: "c", key: "id",
        options: options)
      try store.collection("c").save(
        values.enumerated().map { ["id": .integer(Int64($0)), "x": $1] }, keyField: "id")
      try store.export(collection: "c", as: .csv, to: .file(file))
      let before = try store.collection("c").fetch(DynamicQuery()).map(exact)

      let again = try store.importDocuments(from: .file(file), into: "c", key: "id")
      #expect(again.saved.unchanged == values.count + 1)
      options.types = ["x": .json]
      options.allowsMixedKinds = true
      try withTemporaryStore { other in
        try other.importDocuments(from: .file(file), into: "c", key: "id", options: options)
        #expect(try other.collection("c").fetch(DynamicQuery()).map(exact) == before)
      }
    }
  }
}
