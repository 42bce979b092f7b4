import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct HeaderTests {
  /// The record of a document of one string, without its checksum.
  private func record(valueByteCount: Int) throws -> (bytes: [UInt8], header: RecordHeader) {
    let text = String(repeating: "x", count: valueByteCount)
    let bytes = try storedBytes(One(text)).dropLast(RecordFormat.checksumByteCount)
    let header = try bytes.withUnsafeBytes { try RecordHeader($0) }
    return (Array(bytes), header)
  }

  @Test("the header's numbers are as wide as the record's length needs, at both edges")
  func widths() throws {
    // Header of 2 slots: 2 + 5w. The key takes 2 bytes, the value its tag and its bytes.
    let cases: [(count: Int, shift: Int, byteCount: Int)] = [
      (0, 0, 10), (244, 0, 255), (245, 1, 261), (65_518, 1, 65_535), (65_519, 2, 65_546),
      (70_000, 2, 70_029),
    ]
    for (count, shift, byteCount) in cases {
      let (bytes, header) = try record(valueByteCount: count)

      #expect(header.shift == shift, "\(count)")
      #expect(header.byteCount == bytes.count, "\(count)")
      #expect(bytes.count == byteCount, "\(count)")
    }
  }

  @Test("a record of any size around the edges of the widths comes back")
  func edges() throws {
    try withTemporaryStore { store in
      let ones = store.repository(of: One<String>.self)
      let counts = Array(225...265) + Array(65_500...65_545)
      let documents = counts.map { One(String(repeating: "y", count: $0), id: "\($0)") }

      try ones.save(documents)

      for document in documents { #expect(try ones.get(document.id) == document) }
    }
  }

  @Test("a document has the same bytes in whatever order its fields are put")
  func order() throws {
    var random = RandomSource()
    for round in 0..<30 {
      let longest = [3, 300, 30_000][round % 3]
      let filled = random.int(1..<Wide.count + 1)
      var values: [String?] = (0..<Wide.count).map { field in
        field < filled && random.bool() ? String(repeating: "v", count: random.int(0..<4)) : nil
      }
      values[0] = "key"
      values[random.int(1..<Wide.count)] = String(repeating: "w", count: random.int(0..<longest))
      let inOrder = Wide(values: values)
      let shuffled = Wide(values: values, order: inOrder.order.shuffled(using: &random))

      let bytes = try storedBytes(inOrder)

      #expect(try storedBytes(shuffled) == bytes, "\(random.hint)")
      #expect(try stored(shuffled) == inOrder, "\(random.hint)")
    }
  }

  @Test("a field that is not put takes no slot at the end of a record, and reads as missing")
  func fieldsNotPut() throws {
    let values: [String?] = ["key", nil, "x"] + Array(repeating: nil, count: Wide.count - 3)

    let partly = Wide(values: values, order: [2, 0])

    #expect(try storedBytes(partly).count == 2 + 6 + 4 + 2 + 8)
    #expect(try stored(partly) == partly)
  }

  @Test("embedded records of every width come back, inside one another")
  func embedded() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let nodes = store.repository(of: Node.self)
      for round in 0..<40 {
        func node(_ depth: Int) -> Node {
          let sizes = [0, 5, 200, 240, 250, 255, 256, 70_000]
          return Node(
            id: "\(round)",
            label: String(repeating: "l", count: sizes.randomElement(using: &random) ?? 0),
            children: depth == 0
              ? []
              : random.array(0..<4) { _ in Node(id: "c") }.map { _ in
                node(depth - 1)
              })
        }
        let document = node(3)

        try nodes.save(document)

        #expect(try nodes.get("\(round)") == document, "\(random.hint)")
        #expect(try nodes.save(document).unchanged == 1, "\(random.hint)")
      }
    }
  }

  @Test("an embedded document without fields is five bytes")
  func empty() throws {
    let bytes = try storedBytes(One(Nothing()))

    #expect(bytes.count == 2 + 5 + 2 + 5 + 8)
    #expect(try stored(One(Nothing())).value == Nothing())
  }

  @Test("two types that declare one collection's fields in another order write the same bytes")
  func declaredOrder() throws {
    try withTemporaryStore { store in
      try store.repository(of: Straight.self).save(Straight(id: "k", first: 1, second: "x"))
      let bytes = try store.recordBytes(of: "k", in: "Pair")

      let report = try store.repository(of: Crossed.self)
        .save(Crossed(second: "x", first: 1, id: "k"))

      #expect(report.unchanged == 1)
      #expect(try store.recordBytes(of: "k", in: "Pair") == bytes)
    }
  }
}

private struct Straight: Document, Identifiable {
  var id: String
  var first: Int
  var second: String

  init(id: String, first: Int, second: String) {
    (self.id, self.first, self.second) = (id, first, second)
  }

  static let schema = Schema<Straight>(
    "Pair", key: \.id,
    fields: [Field("id", \.id), Field("first", \.first), Field("second", \.second)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(first, at: 1)
    record.put(second, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    first = try record.get(1)
    second = try record.get(2)
  }
}

private struct Crossed: Document, Identifiable {
  var second: String
  var first: Int
  var id: String

  init(second: String, first: Int, id: String) {
    (self.id, self.first, self.second) = (id, first, second)
  }

  static let schema = Schema<Crossed>(
    "Pair", key: \.id,
    fields: [Field("second", \.second), Field("first", \.first), Field("id", \.id)])

  func encode(into record: inout RecordWriter) {
    record.put(second, at: 0)
    record.put(first, at: 1)
    record.put(id, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    second = try record.get(0)
    first = try record.get(1)
    id = try record.get(2)
  }
}
