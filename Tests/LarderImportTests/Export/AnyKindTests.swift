import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("Fields of any kind go out and come in again")
struct AnyKindTests {
  @Test(
    "what a Codable type stores comes back into its own store unchanged, and equal into others",
    arguments: ExportFormat.allCases)
  func plain(format: ExportFormat) throws {
    var random = RandomSource()
    let scratch = try ScratchFolder()
    let file = scratch.file("i.\(format.rawValue)")
    try withTemporaryStore { store in
      let invoices = store.repository(of: Invoice.self)
      let saved = (0..<repetitions(60)).map { Invoice(id: $0, &random) }
      try invoices.save(saved)
      let before = try invoices.fetch(invoices.all)
      for (index, invoice) in before.enumerated() {
        #expect(invoice == saved[index], "\(random.hint)")
      }
      try store.export(collection: "Invoice", as: format, to: .file(file))

      let again = try store.importDocuments(from: .file(file), into: "Invoice", key: "id")

      #expect(again.saved.unchanged == saved.count)
      #expect(try invoices.fetch(invoices.all) == before)
      try withTemporaryStore { other in
        let others = other.repository(of: Invoice.self)
        try others.save(saved)
        try others.eraseAllData()
        try other.importDocuments(from: .file(file), into: "Invoice", key: "id")
        #expect(try others.fetch(others.all) == before)
      }
    }
  }

  @Test("the typed import of an export gives equal documents", arguments: ExportFormat.allCases)
  func typed(format: ExportFormat) throws {
    var random = RandomSource()
    let scratch = try ScratchFolder()
    let file = scratch.file("s.\(format.rawValue)")
    let saved = (0..<repetitions(60)).map { Shop(id: $0, &random) }
    var before: [String] = []
    try withTemporaryStore { store in
      try store.repository(of: Shop.self).save(saved)
      before = try store.collection("Shop").fetch(DynamicQuery()).map(exact)
      try store.export(Shop.all, as: format, to: .file(file))
      let again = try store.importDocuments(from: .file(file), into: Shop.self)
      #expect(again.saved.unchanged == saved.count)
    }
    try withTemporaryStore { store in
      try store.importDocuments(from: .file(file), into: Shop.self)

      let after = try store.collection("Shop").fetch(DynamicQuery()).map(exact)
      #expect(after == before, "\(random.hint)")
      for (shop, other) in zip(try store.repository(of: Shop.self).fetch(Shop.all), saved) {
        #expect(shop == other, "\(shop) \(other) \(random.hint)")
      }
    }
  }

  @Test(
    "random values of every kind in a field of any kind come back to the last bit, typed or not",
    arguments: ExportFormat.allCases)
  func anything(format: ExportFormat) throws {
    var random = RandomSource()
    let scratch = try ScratchFolder()
    for round in 0..<repetitions(10) {
      let files = ["1", "2"].map { scratch.file("\(round)-\($0).\(format.rawValue)") }
      let saved: [DynamicDocument] = (0..<30).map { index in
        [
          "id": .integer(Int64(index)), "value": random.anything(),
          "inner": .document(["value": random.anything(), "$date": "2001-01-01T00:00:00.000Z"]),
        ]
      }
      try withTemporaryStore { store in
        try store.declare(Holder.self)
        let holders = store.collection("Holder")
        try holders.save(saved)
        let before = try holders.fetch(DynamicQuery()).map(exact)
        try store.export(collection: "Holder", as: format, to: .file(files[0]))

        let again = try store.importDocuments(from: .file(files[0]), into: "Holder", key: "id")

        #expect(again.saved.unchanged == saved.count, "\(random.hint)")
        for isTyped in [true, false] {
          try withTemporaryStore { other in
            try other.declare(Holder.self)
            if isTyped {
              try other.importDocuments(from: .file(files[0]), into: Holder.self)
            } else {
              try other.importDocuments(from: .file(files[0]), into: "Holder", key: "id")
            }
            #expect(
              try other.collection("Holder").fetch(DynamicQuery()).map(exact) == before,
              "\(random.hint)")
            try other.export(collection: "Holder", as: format, to: .file(files[1]))
            #expect(
              try Data(contentsOf: files[0]) == Data(contentsOf: files[1]), "\(random.hint)")
          }
        }
      }
    }
  }

  @Test("a typed import makes of text what the type reads there, and stores that")
  func textOfOthers() throws {
    let id = UUID()
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text(
          """
          {"id": 1, "owner": "\(id)", "hours": {"until": {"_0": "2026-03-01T09:30:00Z"}}, \
          "keys": ["\(id)"], "note": {"text": "2026-03-01"}}
          """, name: "s.ndjson"), into: Shop.self)

      let shop = try #require(try store.repository(of: Shop.self).get(1))
      let date = try #require(ISO8601.date(from: "2026-03-01T09:30:00Z"))
      #expect(shop.owner == Owner(raw: id) && shop.hours == .until(date))
      #expect(shop.keys == [Owner(raw: id)] && shop.note == .text("2026-03-01"))
      #expect(try store.collection("Shop").get(1)?["owner"] == .uuid(id))
    }
  }

  @Test("a value that the type cannot read is refused by the typed import, with its place")
  func unreadable() throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(
            """
            {"id": 1, "owner": "\(UUID())", "hours": {"closed": {}}, "keys": []}
            {"id": 2, "owner": "nobody", "hours": {"closed": {}}, "keys": []}
            """, name: "s.ndjson"), into: Shop.self)
      }

      #expect(error?.position == TextPosition(line: 2, column: 20))
      #expect(error?.found == "the string `nobody` in `owner`")
      #expect(error?.expected.contains("that Shop can read (expected a UUID") == true)
    }
  }

  @Test("an object that only looks like a tagged value stays an object")
  func lookalikes() throws {
    let scratch = try ScratchFolder()
    let file = scratch.file("c.ndjson")
    let documents: [DynamicDocument] = [
      ["id": 1, "a": .document(["$date": "soon"]), "b": .document(["$x": "y"])],
      ["id": 2, "a": .document(["$object": 5]), "b": .document(["$x": "2001-01-01"])],
      ["id": 3, "a": .document(["$date": "2001-01-01T00:00:00.000Z"]), "b": .null],
    ]
    try withTemporaryStore { store in
      try store.collection("c").save(documents, keyField: "id")
      try store.export(collection: "c", as: .ndjson, to: .file(file))
      try withTemporaryStore { other in
        try other.importDocuments(from: .file(file), into: "c", key: "id")

        #expect(try other.collection("c").fetch(DynamicQuery()) == documents)
      }
    }
  }
}

private struct Owner: Codable, Hashable, Sendable {
  var raw: UUID

  init(raw: UUID) { self.raw = raw }
  init(from decoder: any Decoder) throws {
    raw = try decoder.singleValueContainer().decode(UUID.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(raw)
  }
}

private enum Hours: Codable, Hashable, Sendable {
  case closed
  case until(Date)
  case on(days: [Date: Data], at: URL, for: Decimal)
}

private enum Note: Codable, Hashable, Sendable {
  case text(String)
  case numbers([Double])

  // As types do that take several kinds: text is tried first or last, and is text either way.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let numbers = try? values.decode([Double].self, forKey: .numbers) {
      self = .numbers(numbers)
    } else {
      self = .text(try values.decode(String.self, forKey: .text))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .text(let text): try values.encode(text, forKey: .text)
    case .numbers(let numbers): try values.encode(numbers, forKey: .numbers)
    }
  }

  private enum CodingKeys: String, CodingKey { case text, numbers }
}

private struct Invoice: Codable, Identifiable, Hashable, Sendable {
  var id: Int
  var customer: Owner
  var hours: Hours
  var note: Note?
  var others: [Owner]
}

@Document
private struct Shop: Hashable {
  var id: Int
  var owner: Owner
  var hours: Hours
  var keys: [Owner] = []
  var note: Note?
}

@Document
private struct Holder: Equatable {
  var id: Int
  var value: Opaque?
  var inner: HolderInside?
}

@EmbeddedDocument
private struct HolderInside: Equatable {
  var value: Opaque?
}

/// Of any kind, and read by nobody.
private struct Opaque: Codable, Equatable, Sendable {
  init(from decoder: any Decoder) throws {}
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension Hours {
  fileprivate init(_ random: inout RandomSource) {
    switch random.int(0..<3) {
    case 0: self = .closed
    // Not NaN, which is unequal to itself.
    case 1:
      self = .until(
        Date(timeIntervalSinceReferenceDate: Double(random.int(0..<2_000_000_000)) / 7))
    default:
      self = .on(
        days: Dictionary(
          random.array(0..<4) {
            (Date(timeIntervalSinceReferenceDate: Double($0.int(0..<9999))), $0.data())
          }, uniquingKeysWith: { first, _ in first }), at: random.url(),
        for: Decimal(random.int(-9999..<9999)) / 100)
    }
  }
}

extension Note {
  fileprivate init?(_ random: inout RandomSource) {
    switch random.int(0..<3) {
    case 0: self = .text(random.text())
    case 1: self = .numbers(random.array(0..<4) { Double($0.int(-9..<9)) / 4 } + [.infinity])
    default: return nil
    }
  }
}

extension Invoice {
  fileprivate init(id: Int, _ random: inout RandomSource) {
    self.init(
      id: id, customer: Owner(raw: random.uuid()), hours: Hours(&random), note: Note(&random),
      others: random.array(0..<3) { Owner(raw: $0.uuid()) })
  }
}

extension Shop {
  fileprivate init(id: Int, _ random: inout RandomSource) {
    self.init(
      id: id, owner: Owner(raw: random.uuid()), hours: Hours(&random),
      keys: random.array(0..<3) { Owner(raw: $0.uuid()) }, note: Note(&random))
  }
}

extension RandomSource {
  /// A value as a field of any kind can hold it: objects are dictionaries there.
  fileprivate mutating func anything(depth: Int = 0) -> Value {
    switch below(depth < 4 ? 14 : 10) {
    case 0: .null
    case 1: .bool(chance(50))
    case 2: .integer(integer())
    case 3: .unsigned(next() | 1 << 63)
    case 4: .double(written())
    case 5: .string(cell())
    case 6: .date(date())
    case 7: chance(50) ? .uuid(uuid()) : .url(url())
    case 8: .decimal(writtenDecimal())
    case 9: .data(data(upTo: 9))
    case 10: .array(array(0..<4) { $0.anything(depth: depth + 1) })
    case 11:
      .dictionary(
        Dictionary(
          array(0..<4) { (.string($0.cell()), $0.anything(depth: depth + 1)) },
          uniquingKeysWith: { first, _ in first }))
    case 12:
      .dictionary([
        .string(
          "$" + pick(["date", "uuid", "data", "url", "decimal", "double", "dictionary", "object"])):
          anything(depth: depth + 1)
      ])
    default:
      .dictionary(
        Dictionary(
          array(1..<4) { source in
            let key: Value =
              switch source.below(5) {
              case 0: .integer(source.integer())
              case 1: .uuid(source.uuid())
              case 2: .date(Date(timeIntervalSinceReferenceDate: Double(source.below(99))))
              case 3: .bool(source.chance(50))
              default: .string(source.cell())
              }
            return (key, source.anything(depth: depth + 1))
          }, uniquingKeysWith: { first, _ in first }))
    }
  }
}
