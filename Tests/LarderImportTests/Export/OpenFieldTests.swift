import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

/// A plain type many of whose properties are mostly empty.
private struct Dish: Codable, Identifiable, Sendable, Equatable {
  struct Step: Codable, Sendable, Equatable {
    var text: String
    var minutes: Int?
  }

  enum Course: Codable, Equatable {
    case main
    case side(of: String)
  }

  enum Level: String, Codable { case easy, hard }

  var id: Int
  var title: String
  var steps: [Step] = []
  var level: Level?
  var best: Step?
  var course: Course?
  var variants: [String: Step] = [:]
  var due: Date?

  static func full(_ id: Int) -> Dish {
    Dish(
      id: id, title: "soup", steps: [Step(text: "cut", minutes: 5), Step(text: "boil")],
      level: .hard, best: Step(text: "eat"), course: .side(of: "fish"),
      variants: ["cold": Step(text: "chill", minutes: 60)],
      due: Date(timeIntervalSinceReferenceDate: 0.25))
  }
}

@Suite("Fields of a plain type in which nobody has seen a value yet")
struct OpenFieldTests {
  @Test(
    "an export is read where all documents were empty so far, and the type reads and saves on",
    arguments: ExportFormat.allCases)
  func export(format: ExportFormat) throws {
    let scratch = try ScratchFolder()
    let file = scratch.file("d.\(format.rawValue)")
    try withTemporaryStore { store in
      try store.repository(of: Dish.self).save([Dish.full(1), Dish(id: 2, title: "bread")])
      try store.export(collection: "Dish", as: format, to: .file(file))
    }
    try withTemporaryStore { store in
      let dishes = store.repository(of: Dish.self)
      try dishes.save([Dish(id: 3, title: "first")])

      try store.importDocuments(from: .file(file), into: "Dish", key: "id")

      #expect(
        try dishes.fetch(dishes.all)
          == [Dish.full(1), Dish(id: 2, title: "bread"), Dish(id: 3, title: "first")])
      try dishes.save([Dish.full(3), Dish.full(4)])
      #expect(try dishes.get(3) == Dish.full(3))
      #expect(try dishes.get(1) == Dish.full(1))
      // As the type has widened some kinds.
      try store.importDocuments(from: .file(file), into: "Dish", key: "id")
      let again = try store.importDocuments(from: .file(file), into: "Dish", key: "id")
      #expect(again.saved.unchanged == 2)
      #expect(try dishes.get(1) == Dish.full(1))
    }
  }

  @Test("values without the type say the kind, and may widen it until the type does")
  func untyped() throws {
    struct Reading: Codable, Identifiable, Sendable, Equatable {
      struct Degrees: RawRepresentable, Codable, Sendable, Equatable { var rawValue: Double }
      var id: Int
      var value: Degrees?

      enum CodingKeys: CodingKey { case id, value }

      init(id: Int, _ value: Degrees? = nil) { (self.id, self.value) = (id, value) }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(value, forKey: .value)
      }
    }
    try withTemporaryStore { store in
      let readings = store.repository(of: Reading.self)
      try readings.save([Reading(id: 1)])

      try store.collection("Reading").save([["id": 2, "value": 3]], keyField: "id")
      try store.collection("Reading").save([["id": 3, "value": 3.5]], keyField: "id")

      let degrees = [nil, 3, 3.5].map { $0.map(Reading.Degrees.init) }
      #expect(try readings.fetch(readings.all).map(\.value) == degrees)
      try readings.save([Reading(id: 4, Reading.Degrees(rawValue: 0.5))])
      #expect(try readings.get(4)?.value?.rawValue == 0.5)
    }
  }

  @Test("an array that was always empty takes no text")
  func emptyArray() throws {
    try withTemporaryStore { store in
      try store.repository(of: Dish.self).save([Dish(id: 1, title: "first")])

      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .bytes(Array(#"{"id": 2, "steps": "x"}"#.utf8), name: "d.ndjson"), into: "Dish",
          key: "id")
      }

      #expect(error?.kind == .value && error?.position?.column == 20)
      #expect(error?.found == "the string `x` in `steps`")
    }
  }
}
