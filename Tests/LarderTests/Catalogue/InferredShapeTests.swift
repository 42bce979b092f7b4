import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct InferredShapeTests {
  private func kinds(_ documents: DynamicDocument...) throws -> [String: String] {
    var shape = InferredShape()
    for document in documents { try shape.add(document) }
    return Dictionary(uniqueKeysWithValues: shape.fields.map { ($0.name, "\($0.kind)") })
  }

  @Test("every kind of value is inferred as what it is")
  func scalars() throws {
    let found = try kinds([
      "null": .null, "bool": true, "integer": 1, "unsigned": Value(UInt64.max), "double": 0.5,
      "string": "x", "data": .data(Data([1])), "date": .date(Date()), "uuid": .uuid(UUID()),
      "url": .url(URL(filePath: "/")), "decimal": .decimal(1), "empty": [], "array": [1, 2],
      "rows": [[1], []], "document": .document(["a": 1]), "dictionary": .dictionary(["a": 1]),
    ])

    #expect(
      found == [
        "null": "null?", "bool": "bool", "integer": "int64", "unsigned": "uint64",
        "double": "double", "string": "string", "data": "data", "date": "date", "uuid": "uuid",
        "url": "url", "decimal": "decimal", "empty": "[null]", "array": "[int64]",
        "rows": "[[int64]]", "document": "document", "dictionary": "[string: int64]",
      ])
  }

  @Test("a kind grows with the values that come: to double, to optional, out of nothing")
  func growing() throws {
    #expect(try kinds(["a": .null], ["a": 1]) == ["a": "int64?"])
    #expect(try kinds(["a": 1], ["a": .null], ["a": 2]) == ["a": "int64?"])
    #expect(try kinds(["a": 1], ["a": 0.5], ["a": 2]) == ["a": "double"])
    #expect(try kinds(["a": .null], ["a": 0.5], ["a": 2]) == ["a": "double?"])
    #expect(try kinds(["a": 1], ["a": Value(UInt64.max)]) == ["a": "double"])
    #expect(try kinds(["a": []], ["a": [.null]], ["a": ["x"]]) == ["a": "[string?]"])
    #expect(try kinds(["a": [1, 0.5, .null]]) == ["a": "[double?]"])
    #expect(try kinds(["a": .null], ["a": []], ["a": [[1]]]) == ["a": "[[int64]]?"])
    #expect(try kinds([:], ["a": 1], [:]) == ["a": "int64"])
    var shape = InferredShape()
    #expect(shape.isEmpty)
    try shape.add(["a": 1])
    #expect(!shape.isEmpty)
  }

  @Test("fields of embedded documents grow from document to document")
  func embedded() throws {
    var shape = InferredShape()
    try shape.add(["list": [.document(["a": 1]), .document(["a": .null, "b": "x"])]])
    try shape.add(["list": [.document(["b": .null, "c": true])]])

    guard case .array(.document(let inner)) = shape.fields[0].kind else {
      Issue.record("\(shape.fields[0].kind)")
      return
    }
    #expect(inner.fields.map { "\($0.name) \($0.kind)" } == ["a int64?", "b string?", "c bool"])
  }

  @Test("two kinds in one field are a conflict that names the way down to it and both kinds")
  func conflicts() {
    func conflict(_ documents: DynamicDocument...) -> String {
      var shape = InferredShape()
      do {
        for document in documents { try shape.add(document) }
        return "none"
      } catch {
        return "\(error.path.joined(separator: ".")): \(error.seen), \(error.found)"
      }
    }

    #expect(conflict(["a": 1], ["a": "x"]) == "a: int64, string")
    #expect(conflict(["a": ["x", true]]) == "a: string, bool")
    #expect(conflict(["a": [1]], ["a": 1]) == "a: [int64], int64")
    #expect(
      conflict(
        ["a": .document(["b": [.document(["c": 1])]])],
        ["a": .document(["b": [.document(["c": "x"])]])])
        == "a.b.c: int64, string")
    #expect(conflict(["a": [.document(["b": 1]), .document(["b": "x"])]]) == "a.b: int64, string")
    #expect(conflict(["a": .null], ["a": 1], ["a": true]) == "a: int64, bool")
  }

  @Test("documents saved one by one get the kinds that they would get together")
  func oneByOne() throws {
    let pairs: [[DynamicDocument]] = [
      [["id": 1, "n": 5], ["id": 2, "n": 0.5]], [["id": 1, "n": 5], ["id": 2, "n": .null]],
      [["id": 1, "n": 5], ["id": 2, "n": Value(UInt64(1) << 63)]],
      [["id": 1, "n": Value(UInt64(1) << 63)], ["id": 2, "n": -5]],
      [["id": 1, "n": []], ["id": 2, "n": [true]]], [["id": 1, "n": .null], ["id": 2, "n": "x"]],
    ]
    for pair in pairs {
      try withTemporaryStore { store in
        try store.collection("Together").save(pair, keyField: "id")
        for document in pair { try store.collection("Alone").save([document], keyField: "id") }

        #expect(store.kind(of: "n", in: "Alone") == store.kind(of: "n", in: "Together"))
      }
    }
  }

  @Test("more fields or kinds of documents than records can number are refused, and say what to do")
  func limits() throws {
    try withTemporaryStore { store in
      let fields = (0...CollectionDescription.maximumCount).map { number in
        DynamicDocument.Field("k\(number)", 1)
      }
      let documents = fields.dropFirst(2).map { field in
        DynamicDocument.Field(field.name, .document(["a": 1]))
      }
      let wide = DynamicDocument([.init("id", 1), .init("m", .document(DynamicDocument(fields)))])
      let many = DynamicDocument([
        .init("id", 1), .init("m", .document(DynamicDocument(documents))),
      ])

      #expect(
        throws: StoreError.valueRefused(
          collection: "Wide", key: "1", field: "k65536", found: "65537 fields",
          expected: "at most 65536 fields in an object, and as many kinds of objects; declare an "
            + "object whose names are data as a dictionary")
      ) { try store.collection("Wide").save([wide], keyField: "id") }
      #expect(
        throws: StoreError.valueRefused(
          collection: "Many", key: "1", field: "m", found: "65537 kinds of documents",
          expected: "at most 65536 fields in an object, and as many kinds of objects; declare an "
            + "object whose names are data as a dictionary")
      ) { try store.collection("Many").save([many], keyField: "id") }

      let names = try store.collectionNames()
      #expect(names.isEmpty)
    }
  }

  @Test("arrays that are nested as deep as can be read are saved, and deeper ones are refused")
  func depth() throws {
    func nested(_ depth: Int) -> Value { depth == 0 ? 1 : [nested(depth - 1)] }
    let folder = TestScratch()
    do {
      let store = try Store(at: folder.path)
      let documents = store.collection("Deep")
      try documents.save([["id": 1, "n": nested(InferredShape.maximumNesting)]], keyField: "id")
      #expect(try documents.get(1)?["n"] == nested(InferredShape.maximumNesting))

      let error = #expect(throws: StoreError.self) {
        try documents.save([["id": 2, "m": nested(InferredShape.maximumNesting + 1)]])
      }

      #expect("\(try #require(error))".contains("levels"))
      try store.close()
    }
    let again = try Store(at: folder.path)
    #expect(try again.collection("Deep").count() == 1)
    try verifyAndClose(again)
  }
}

/// A folder that is gone with the test.
private final class TestScratch {
  let path = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    .appending(path: "larder-shape-\(UUID().uuidString)").path(percentEncoded: false)

  // A leftover in the temporary folder harms no test.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
