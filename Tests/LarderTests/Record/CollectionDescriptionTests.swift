import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct CollectionDescriptionTests {
  private func kind(_ random: inout RandomSource, tables: Int, depth: Int = 0) -> Kind<Int> {
    let scalars: [Kind<Int>] = [
      .null, .any, .bool, .float, .double, .string, .data, .date, .uuid, .url, .decimal,
    ]
    switch random.int(0..<(depth > 5 ? 3 : 7)) {
    case 0: return scalars[random.int(0..<scalars.count)]
    case 1: return .integer(IntegerKind.allCases[random.int(0..<8)])
    case 2: return .document(random.int(0..<tables))
    case 3: return .optional(kind(&random, tables: tables, depth: depth + 1))
    case 4: return .array(kind(&random, tables: tables, depth: depth + 1))
    case 5: return .set(kind(&random, tables: tables, depth: depth + 1))
    default:
      return .dictionary(
        kind(&random, tables: tables, depth: depth + 1),
        kind(&random, tables: tables, depth: depth + 1))
    }
  }

  private func description(_ random: inout RandomSource) -> CollectionDescription {
    var description = CollectionDescription(
      name: "Å" + random.text(), keyKind: KeyKind.allCases[random.int(0..<4)])
    description.keyField = random.bool() ? random.text() : nil
    let tables = random.once(in: 20) ? 300 : random.int(1..<5)
    description.tables = (0..<tables).map { _ in
      var table = FieldTable()
      for field in 0..<random.int(0..<20) {
        table.append(
          StoredField(
            name: "\(field)" + random.text(), kind: kind(&random, tables: tables),
            isDeclared: random.bool(), isRequired: random.bool()))
      }
      return table
    }
    return description
  }

  private func decoded(_ bytes: [UInt8], _ name: String) throws -> CollectionDescription {
    try bytes.withUnsafeBytes { try CollectionDescription(name: name, $0) }
  }

  @Test("a description comes back from its bytes")
  func roundTrip() throws {
    var random = RandomSource()
    for _ in 0..<300 {
      let description = description(&random)

      #expect(try decoded(description.encoded(), description.name) == description, "\(random.hint)")
    }
  }

  @Test("a description with any bit changed, or of another collection, is refused as damaged")
  func damaged() throws {
    var random = RandomSource()
    var description = description(&random)
    description.tables = Array(description.tables.prefix(2))
    var bytes = description.encoded()
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = #expect(throws: StoreError.self) { try decoded(bytes, description.name) }
      guard case .damagedCatalogue? = error else {
        Issue.record("\(random.hint): \(String(describing: error))")
        return
      }
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(throws: StoreError.self) { try decoded(bytes, description.name + "x") }
    for count in 0..<bytes.count {
      #expect(throws: StoreError.self) { try decoded(Array(bytes.prefix(count)), description.name) }
    }
  }

  @Test("a description that is damaged in spite of its checksum throws, or can be worked with")
  func mutated() throws {
    var random = RandomSource()
    let memory = GuardedBytes()
    let whole = (0..<30).map { _ in
      var description = description(&random)
      description.tables = Array(description.tables.prefix(3))
      return Array(description.encoded().dropLast(8))
    }
    let seed = Array("c".utf8).withUnsafeBytes { Checksum.hash($0, seed: 0) }
    var usable = 0
    for _ in 0..<MutationTests.total / 12 {
      var bytes = random.mutated(whole[random.int(0..<whole.count)], others: whole)
      let hash = bytes.withUnsafeBytes { Checksum.hash($0, seed: seed) }
      withUnsafeBytes(of: hash.littleEndian) { bytes += $0 }
      guard let description = try? CollectionDescription(name: "c", memory.place(bytes)) else {
        continue
      }
      // What is used of it first: every kind, and the table that it names.
      for field in description.tables.flatMap(\.fields) {
        _ = field.kind.mapReferences { description.tables[$0].fields.count }
      }
      _ = CollectionBinding(Collection(description, documents: .main))
      usable += 1
    }
    #expect(usable > 0)
  }

  @Test("a store whose catalogue is damaged says so when it is opened, and is left as it was")
  func damagedStore() throws {
    let description = CollectionDescription(name: "Å", keyKind: .uuid)
    var bytes = description.encoded()
    bytes[1] ^= 0xFF

    let error = #expect(throws: StoreError.self) { try decoded(bytes, "Å") }

    #expect(
      error == .damagedCatalogue("the description of Å: the checksum does not match"))
  }
}
