import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Damaged records of a plain type.
@Suite struct CodableMutationTests {
  private let store: Store
  private let binding: CollectionBinding
  private let records: [[UInt8]]
  private var random = RandomSource()

  init() throws {
    let store = try Store.temporary()
    self.store = store
    let repository = store.repository(of: RichPlain.self)
    var values: [RichPlain] = []
    for number in 0..<30 {
      var value = random.richPlain()
      // Short ones let a change hit a header more often.
      if number % 2 == 0 { (value.list, value.byName, value.maybe) = ([], [:], nil) }
      values.append(value)
    }
    try repository.save(values)
    binding = try #require(
      try store.engine.catalogue.binding(of: CodableDocument<RichPlain>.self, in: "RichPlain"))
    records = try values.map { value in
      try #require(try store.recordBytes(of: value.id, in: "RichPlain")).dropLast(8)
    }
  }

  @Test("a record that is damaged in spite of its checksum throws or gives a value")
  mutating func typed() {
    let memory = GuardedBytes()
    var read = 0
    var refused = 0
    for round in 0..<MutationTests.total / 6 {
      let bytes = memory.place(random.mutated(records[round % records.count], others: records))
      do {
        let record = try RecordReader(bytes, binding: binding, schema: binding.root, depth: 1)
        _ = try record.document(coding: RichPlain.self)
        read += 1
      } catch {
        refused += 1
      }
    }
    #expect(read > 0)
    #expect(refused > MutationTests.total / 20)
  }

  @Test("damaged records are merged with new ones, or refused")
  mutating func merged() throws {
    let memory = GuardedBytes()
    var knowledge = CodableKnowledge()
    knowledge.add(Few.self, table: 0)
    var kept = 0
    for round in 0..<MutationTests.total / 12 {
      let bytes = memory.place(random.mutated(records[round % records.count], others: records))
      let known = try #require(KnownFields(knowledge, in: binding.collection))
      var writer = RecordWriter(binding: binding)
      let merged = records[(round + 1) % records.count].withUnsafeBytes { new in
        try? writer.merge(
          old: bytes, new: new, key: UnsafeRawBufferPointer(start: nil, count: 0), knowing: known)
      }
      if merged != nil { kept += 1 }
    }
    #expect(kept > 0)
  }

  private enum Few: CodingKey { case id, rich, list }
}
