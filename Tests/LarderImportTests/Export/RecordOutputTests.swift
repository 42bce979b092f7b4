import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderImport

@Suite("Records written as text without becoming values")
struct RecordOutputTests {
  /// What the export of a collection is, and what it is by way of its documents.
  private func texts(
    _ documents: [DynamicDocument], _ format: ExportFormat
  ) throws -> (direct: [UInt8], expected: [UInt8]) {
    let scratch = try ScratchFolder()
    let file = scratch.file("c.\(format.rawValue)")
    var output = JSONOutput()
    var expected: [UInt8] = []
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save(documents, keyField: "id")
      // Else the export would go by way of documents itself.
      #expect(try store.read { $0.place(of: "c")?.holdsAny } == false)
      let place = try store.read { $0.place(of: "c") }
      var rows = CSVOutput(
        (place?.fieldNames ?? []).map(FieldPath.init(field:)), place, ExportOptions())
      var count = 0
      try collection.forEach(DynamicQuery()) { document in
        if format == .json { output.put(count == 0 ? "[\n" : ",\n") }
        if format == .csv { rows.write(document) } else { output.write(document, in: nil) }
        if format == .ndjson { output.put("\n") }
        count += 1
      }
      if format == .json { output.put(count == 0 ? "[]\n" : "\n]\n") }
      expected = format == .csv ? rows.bytes : output.bytes
      try store.export(collection: "c", as: format, to: .file(file))
    }
    return (Array(try Data(contentsOf: file)), expected)
  }

  @Test("random documents have the text of their values", arguments: ExportFormat.allCases)
  func random(format: ExportFormat) throws {
    var random = RandomSource()
    for _ in 0..<repetitions(15) {
      let kinds = (0..<12).map { (name: random.pick(["a", "ü", "q\"", "$a"]) + "\($0)", kind: $0) }
      let documents = (0..<random.below(30)).map { index in
        var fields = [DynamicDocument.Field("id", .integer(Int64(index)))]
        for (name, kind) in kinds where !random.chance(12) {
          fields.append(
            .init(name, random.chance(12) ? .null : random.value(ofKind: kind)))
        }
        return DynamicDocument(fields)
      }
      guard !documents.isEmpty else { continue }

      let (direct, expected) = try texts(documents, format)

      #expect(direct == expected, "\(random.hint)")
    }
  }

  @Test(
    "every ASCII character at every place of a word of eight has the text of its value",
    arguments: [ExportFormat.ndjson, .csv])
  func characters(format: ExportFormat) throws {
    var documents: [DynamicDocument] = []
    for byte in UInt8(0)..<128 {
      for place in 0..<10 {
        var text = Array("abcdefghij".utf8)
        text[place] = byte
        documents.append([
          "id": .integer(Int64(documents.count)),
          "text": .string(String(decoding: text, as: UTF8.self)),
          "tail": .string(String(decoding: text[..<(place + 1)], as: UTF8.self)),
        ])
      }
    }

    let (direct, expected) = try texts(documents, format)

    #expect(direct == expected)
  }

  @Test(
    "numbers of every size, nested values, dictionaries and what looks like a tag likewise",
    arguments: [ExportFormat.json, .csv])
  func others(format: ExportFormat) throws {
    var deep = Value.array([.integer(1), .integer(2)])
    for _ in 0..<20 { deep = .array([deep]) }
    var numbers: [Int64] = [.min, .max, 0, -1]
    for power in 0..<63 { numbers += [1 << power, -(1 << power), (1 << power) - 1] }
    for power in 1..<19 { numbers.append(Int64(pow(10, Double(power)))) }
    let long = String(repeating: "lorem ipsum ", count: 20_000)
    let documents: [DynamicDocument] = numbers.enumerated().map { index, number in
      [
        "id": .integer(Int64(index)), "number": .integer(number), "deep": deep,
        "tag": .document(["$date": .string("x")]),
        "other": .document(["$date": .string("x"), "n": .integer(number)]),
        "empty": .document([:]), "none": .array([]),
        "map": .dictionary([.string("b"): .integer(number), .string("a\n"): .integer(1)]),
        "text": .string(index == 3 ? long : long + "é"),
      ]
    }

    let (direct, expected) = try texts(documents, format)

    #expect(direct == expected)
  }

  @Test(
    "text that ends in the middle of a word, or of a scalar's, likewise",
    arguments: [ExportFormat.ndjson, .csv])
  func ends(format: ExportFormat) throws {
    let scalars = [
      "é", "\u{80}", "\u{9F}", "\u{A0}", "€", "😀", "\u{FEFF}", "\u{7F}", "\"", ",", " ", "a",
    ]
    var documents: [DynamicDocument] = []
    for scalar in scalars {
      for before in 0..<10 {
        for behind in 0..<4 {
          let text =
            String(repeating: "x", count: before) + scalar + String(repeating: "y", count: behind)
          documents.append(["id": .integer(Int64(documents.count)), "text": .string(text)])
        }
      }
    }
    for text in ["", "\\N", "true", "FALSE", "12", "-1.5", "NaN", "2026-03-01T09:30:00.250Z", "n"] {
      documents.append(["id": .integer(Int64(documents.count)), "text": .string(text)])
    }

    let (direct, expected) = try texts(documents, format)

    #expect(direct == expected)
  }

  @Test("doubles of every size likewise", arguments: [ExportFormat.ndjson, .csv])
  func doubles(format: ExportFormat) throws {
    var random = RandomSource()
    var numbers: [Double] = [0, -0.0, .infinity, -.infinity, .nan, .pi, 1e9, 1e15, 0.001, 1e-4]
    for _ in 0..<2_000 {
      numbers.append(Double(bitPattern: UInt64(bitPattern: random.integer())))
      let digits = Double(random.int(0..<1 << 53))
      for scale in [1e1, 1e3, 1e6, 1e9, 1e12, 1e15] { numbers.append(-digits / scale) }
    }
    let documents: [DynamicDocument] = numbers.enumerated().map { index, number in
      ["id": .integer(Int64(index)), "number": .double(number)]
    }

    let (direct, expected) = try texts(documents, format)

    #expect(direct == expected, "\(random.hint)")
  }
}
