import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct MutationTests {
  static let total = repetitions(60_000)

  private let store: Store
  private let binding: CollectionBinding
  private let earlier: CollectionBinding
  private let dynamic: CollectionBinding
  /// Whole records, and the keys that they are under.
  private let records: [(key: [UInt8], bytes: [UInt8])]
  private let allBytes: [[UInt8]]
  private var random = RandomSource()

  init() throws {
    let store = try Store.temporary()
    self.store = store
    let repository = store.repository(of: Everything.self)
    var documents: [Everything] = []
    for id in 0..<60 {
      var document = Everything(id: id, &random)
      // Short ones let a change hit a header more often.
      if id % 2 == 0 { (document.texts, document.nodes, document.counts) = ([], [], [:]) }
      documents.append(document)
    }
    try repository.save(documents)
    let catalogue = store.engine.catalogue
    binding = try #require(try catalogue.binding(of: Everything.self))
    earlier = try #require(try catalogue.binding(of: EarlierEverything.self))
    dynamic = try #require(catalogue.binding(ofCollection: "Everything"))
    records = try documents.map { document in
      let bytes = try store.recordBytes(of: document.id, in: "Everything")
      return (document.id.withEncodedKey { [UInt8]($0) }, try #require(bytes))
    }
    allBytes = records.map(\.bytes)
  }

  /// Lends each of `count` damaged records, without a checksum, at the end of readable memory.
  private mutating func forEachDamaged(
    _ count: Int, name: String, _ body: (UnsafeRawBufferPointer, _ whole: [UInt8]) throws -> Void
  ) rethrows {
    print(name, random.hint, count)
    let memory = GuardedBytes()
    for _ in 0..<count {
      let whole = Array(records[random.int(0..<records.count)].bytes.dropLast(8))
      try body(memory.place(random.mutated(whole, others: allBytes)), whole)
    }
  }

  @Test("a damaged record never passes for a whole one")
  mutating func verified() {
    let memory = GuardedBytes()
    var damaged = 0
    for _ in 0..<Self.total / 3 {
      let (key, bytes) = records[random.int(0..<records.count)]
      let mutated = random.mutated(bytes, others: allBytes)
      let found = memory.place(mutated)

      let passes = key.withUnsafeBytes { (try? binding.collection.verified(found, key: $0)) != nil }

      if mutated != bytes { damaged += 1 }
      if passes != (mutated == bytes) {
        Issue.record("\(random.hint): a damaged record passed, or a whole one did not")
        return
      }
    }
    #expect(damaged > Self.total / 3 * 9 / 10)
  }

  @Test("a record that is damaged in spite of its checksum throws or gives a document")
  mutating func typed() {
    let binding = binding
    var read = 0
    forEachDamaged(Self.total / 6, name: "typed") { bytes, _ in
      let document = try? Everything(
        from: RecordReader(bytes, binding: binding, schema: binding.root, depth: 1))
      if document != nil { read += 1 }
    }
    #expect(read > 0)
  }

  @Test("a damaged record without a type throws or gives a document that can be written or not")
  mutating func untyped() {
    let dynamic = dynamic
    var written = 0
    var writer = RecordWriter(binding: dynamic)
    var seen = Set<String>()
    forEachDamaged(Self.total / 6, name: "untyped") { bytes, _ in
      do {
        let document = try DynamicDocument(record: bytes, binding: dynamic)
        writer.removeAll()
        _ = try [1].withUnsafeBytes { try writer.putDocument(document, key: $0) }
        written += 1
      } catch {
        if seen.count < 100 { seen.insert("\(error)") }
      }
    }
    #expect(written > 0)
    #expect(seen.count > 20)
  }

  @Test("a filter and a sort over damaged records throw or answer")
  mutating func filters() {
    let binding = binding
    let queries: [Query<Everything>] = [
      Everything.where { $0.text == "é" }, Everything.where { $0.text.hasPrefix("a") },
      Everything.where { $0.text.contains("b") }, Everything.where { $0.texts.contains("é") },
      Everything.where { $0.geo.lat > 5 }, Everything.where { $0.geo.lon < 5 },
      Everything.where { $0.double < 5 }, Everything.where { $0.large < 99 },
      Everything.where { $0.decimal > 5 }, Everything.where { $0.maybe == nil },
      Everything.where { $0.isOn }, Everything.where { $0.numbers.contains(5) },
      Everything.where { $0.url == URL(filePath: "/") },
      Everything.all.sorted(by: \.text).sorted(by: \.double).sorted(by: \.date),
    ]
    let evaluations = queries.map {
      Evaluation($0.selection.filter, order: $0.selection.order, in: binding.collection)
    }
    var answers = [0, 0]
    forEachDamaged(Self.total / 6, name: "filters") { bytes, _ in
      guard
        let record = try? RecordReader(bytes, binding: binding, schema: binding.root, depth: 1)
      else { return }
      for evaluation in evaluations {
        if let answer = try? evaluation.matches(record) { answers[answer ? 1 : 0] += 1 }
        _ = try? evaluation.sortValues(record)
      }
    }
    #expect(answers.allSatisfy { $0 > 0 })
  }

  @Test("passing over damaged values throws or stays inside")
  mutating func skipping() {
    let binding = binding
    var passed = 0
    forEachDamaged(Self.total / 12, name: "skipping") { bytes, _ in
      guard let start = bytes.baseAddress else { return }
      for place in stride(from: 0, to: bytes.count, by: 7) {
        var reader = ValueReader(start + place, start + bytes.count, binding: binding, depth: 1)
        guard (try? reader.skip()) != nil else { continue }
        passed += 1
        if reader.at > start + bytes.count { Issue.record("it went beyond the end") }
      }
    }
    #expect(passed > 0)
  }

  @Test("merging with a damaged record throws or gives a record")
  mutating func merging() {
    let earlier = earlier
    let memory = GuardedBytes()
    var merged = 0
    var writer = RecordWriter(binding: earlier)
    forEachDamaged(Self.total / 12, name: "merging") { bytes, whole in
      let whole = memory.place(whole)
      for (old, new) in [(bytes, whole), (whole, bytes)] {
        writer.removeAll()
        if (try? [1].withUnsafeBytes { try writer.merge(old: old, new: new, key: $0) }) != nil {
          merged += 1
        }
      }
    }
    #expect(merged > 0)
  }
}
