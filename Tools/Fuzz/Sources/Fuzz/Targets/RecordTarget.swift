@testable import Larder
import LarderLMDB

/// Records of the documents of the tests, read in every way that there is: by their type, by an
/// earlier version of it, without a type, by filters, and merged with another one.
///
/// The first byte's lowest bits say what follows: 1, two records to be merged and not one; 2, records
/// that are put together here, so that their headers fit; 4, a description of the collection
/// before them, as the catalogue has it.
struct RecordTarget: FuzzTarget {
  private let everything: CollectionDescription

  init() {
    guard let description = try? Self.description(SchemaReference(Everything.self)) else {
      broken("the type's own description")
    }
    everything = description
  }

  func run(_ input: FuzzInput) {
    var input = input
    let mode = input.byte()
    var description = everything
    if mode & 4 != 0 {
      guard let found = Self.description(input.part()) else { return }
      description = found
    }
    let bindings = Bindings(description)
    let isAssembled = mode & 2 != 0
    if mode & 1 == 0 {
      Self.lend(input.rest(), isAssembled) { Readings(bindings).run($0) }
    } else {
      let first = input.part()
      Self.lend(first, isAssembled) { first in
        Self.lend(input.rest(), isAssembled) { Merging(bindings).run(first, $0) }
      }
    }
  }

  static func description(
    _ shape: SchemaReference
  ) throws(StoreError) -> CollectionDescription {
    var description = CollectionDescription(name: "Everything", keyKind: .integer)
    try description.merge(shape)
    return description
  }

  /// What the catalogue's bytes describe, behind their checksum.
  private static func description(_ bytes: UnsafeRawBufferPointer) -> CollectionDescription? {
    let name = "Everything"
    let seed = Array(name.utf8).withUnsafeBytes { Checksum.hash($0, seed: 0) }
    let hash = Checksum.hash(bytes, seed: seed).littleEndian
    let whole = [UInt8](bytes) + withUnsafeBytes(of: hash) { [UInt8]($0) }
    return whole.withUnsafeBytes { whole in
      guard let found = whole.withExactCopy({ try? CollectionDescription(name: name, $0) }) else {
        return nil
      }
      let again = found.encoded().withUnsafeBytes { try? CollectionDescription(name: name, $0) }
      if again != found { broken("a description that is read is written as it was") }
      return found
    }
  }

  private static func lend(
    _ bytes: UnsafeRawBufferPointer, _ isAssembled: Bool,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    guard isAssembled else { return bytes.withExactCopy(body) }
    AssembledRecord(FuzzInput(bytes)).bytes.withUnsafeBytes { $0.withExactCopy(body) }
  }
}

extension RecordTarget {
  /// The ways to look at the records of one collection.
  struct Bindings {
    /// nil where the type does not fit what the catalogue says.
    let typed: CollectionBinding?
    let earlier: CollectionBinding?
    let dynamic: CollectionBinding

    init(_ description: CollectionDescription) {
      dynamic = CollectionBinding(Collection(description, documents: .main))
      typed = Self.binding(Everything.self, description)
      earlier = Self.binding(EarlierEverything.self, description)
    }

    private static func binding<Entity: Document>(
      _ type: Entity.Type, _ description: CollectionDescription
    ) -> CollectionBinding? {
      var description = description
      guard (try? description.merge(SchemaReference(type))) != nil else { return nil }
      return CollectionBinding(
        ObjectIdentifier(type), type.schema, in: Collection(description, documents: .main),
        isDeclared: true)
    }
  }
}

extension RecordTarget {
  static func seeds() throws -> [String: [UInt8]] {
    let typed = Bindings(try description(SchemaReference(Everything.self)))
    guard let binding = typed.typed, let earlier = typed.earlier else { return [:] }
    var random = RandomSource(seed: 1)
    var seeds: [String: [UInt8]] = [:]
    var last: [UInt8] = []
    for id in 0..<6 {
      var document = Everything(id: id, &random)
      // Short ones let a change hit a header more often.
      if id % 2 == 0 { (document.texts, document.nodes, document.counts) = ([], [], [:]) }
      let record = written(binding) { document.encode(into: &$0) }
      let known = try record.withUnsafeBytes {
        try EarlierEverything(
          from: RecordReader($0, binding: earlier, schema: earlier.root, depth: 1))
      }
      let old = written(earlier) { known.encode(into: &$0) }
      seeds["record-\(id)"] = [0] + record
      seeds["assembled-\(id)"] = [2] + AssembledRecord.disassembled(record, binding)
      seeds["merge-\(id)"] = [1] + FuzzInput.encoded(part: record) + old
      seeds["merge-assembled-\(id)"] =
        [3] + FuzzInput.encoded(part: AssembledRecord.disassembled(record, binding))
        + AssembledRecord.disassembled(last.isEmpty ? record : last, binding)
      last = record
    }
    let descriptions = [
      "everything": binding.collection.description, "earlier": earlier.collection.description,
      "node": try description(SchemaReference(Node.self)),
      "contact": try description(SchemaReference(Contact.self)),
    ]
    for (name, description) in descriptions {
      let bytes = [UInt8](description.encoded().dropLast(RecordFormat.checksumByteCount))
      seeds["description-\(name)"] = [4] + FuzzInput.encoded(part: bytes) + last
      seeds["description-merge-\(name)"] =
        [5] + FuzzInput.encoded(part: bytes) + FuzzInput.encoded(part: last) + last
    }
    return seeds
  }

  private static func written(
    _ binding: CollectionBinding, _ body: (inout RecordWriter) -> Void
  ) -> [UInt8] {
    var writer = RecordWriter(binding: binding)
    writer.beginDocument()
    body(&writer)
    let key = UnsafeRawBufferPointer(start: nil, count: 0)
    guard let range = try? writer.endDocument(key: key) else {
      broken("a document of the tests can be written")
    }
    return writer.withBytes { [UInt8]($0[range].dropLast(RecordFormat.checksumByteCount)) }
  }
}
