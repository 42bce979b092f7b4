import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// What the catalogue keeps of an index, with bytes that nobody wrote.
@Suite struct DamagedIndexRecordTests {
  let folder = TestFolder()

  /// A store with an index over a field of an embedded document that has an initial value, and the
  /// bytes of that index, which are of version 3.
  private func make() throws -> (number: UInt32, body: [UInt8]) {
    let store = try Store(at: folder.store)
    try store.collection("Locker").save((0..<20).map { ["id": .integer($0)] }, keyField: "id")
    try store.repository(of: Locker.self).save([
      Locker(id: 20), Locker(id: 21, at: LockerPlace(row: 7)),
    ])
    try store.collection("Locker").buildIndexes()
    let database = try #require(
      try store.engine.environment.database(named: Layout.indexesName, create: false))
    var found: (UInt32, [UInt8])?
    try store.read { snapshot in
      var cursor = try snapshot.transaction.cursor(in: database)
      while try cursor.next() {
        let number = UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self))
        found = (number, Array(cursor.value.dropLast(RecordFormat.checksumByteCount)))
      }
    }
    try store.close()
    let (number, body) = try #require(found)
    // An array of nine, the first of which is the version.
    #expect(body.starts(with: [0x99, 3]))
    return (number, body)
  }

  /// Bytes that are not what somebody wrote, and say of themselves that they are whole.
  private func sealed(_ body: [UInt8], _ number: UInt32) -> [UInt8] {
    let hash = body.withUnsafeBytes { Checksum.hash($0, seed: UInt64(number)) }
    return body + withUnsafeBytes(of: hash.littleEndian) { [UInt8]($0) }
  }

  private func read(_ bytes: [UInt8], _ number: UInt32) throws(StoreError) -> IndexRecord {
    let result: Result<IndexRecord, StoreError> = bytes.withUnsafeBytes { bytes in
      do throws(StoreError) {
        return .success(try IndexRecord(bytes, number: number))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  @Test("every changed bit of an index's record is a damaged catalogue, by its checksum")
  func checksum() throws {
    let (number, body) = try make()
    let whole = sealed(body, number)
    #expect(try read(whole, number).encoded(number: number) == whole)
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = storeError { _ = try read(bytes, number) }
      guard case .damagedCatalogue? = error else {
        Issue.record("bit \(bit): \(String(describing: error))")
        return
      }
    }
  }

  @Test("a record of an index that ends too early, whatever its checksum, is a damaged catalogue")
  func truncated() throws {
    let (number, body) = try make()
    for count in 0..<body.count {
      let error = storeError { _ = try read(sealed(Array(body[..<count]), number), number) }
      guard case .damagedCatalogue? = error else {
        Issue.record("\(count) bytes: \(String(describing: error))")
        return
      }
    }
  }

  @Test("a hostile record of an index is an error of the store's, or an index, and never a crash")
  func hostile() throws {
    var random = RandomSource()
    let (number, body) = try make()
    var outcomes = (refused: 0, read: 0)
    // Both, or too little was changed, or too much.
    func hasMetBoth() -> Bool { outcomes.refused > 0 && outcomes.read > 0 }
    for _ in rounds(repetitions(120), until: hasMetBoth) {
      var bytes = body
      for _ in 0..<random.int(1..<4) {
        let place = random.int(0..<bytes.count)
        switch random.int(0..<3) {
        case 0: bytes[place] ^= 1 << UInt8(random.int(0..<8))
        case 1: bytes[place] = random.pick([0, 0x90, 0x91, 0xC0, 0xC4, 0xDD, 0xDF, 0xFF])
        default: bytes.remove(at: place)
        }
      }
      try put(sealed(bytes, number), number)
      do {
        try work()
        outcomes.read += 1
      } catch is StoreError {
        outcomes.refused += 1
      }
    }
    #expect(hasMetBoth(), "\(outcomes), \(random.hint)")
    try put(sealed(body, number), number)
    try work()
  }

  @Test("a check finds a record of an index for which the next opening would refuse the store")
  func checked() throws {
    let (number, body) = try make()
    let whole = sealed(body, number)
    let store = try Store(at: folder.store)
    #expect(try store.check().problems == [])
    var damaged = whole
    damaged[damaged.count / 2] ^= 1
    let definition = try read(whole, number).definition
    let other = IndexDefinition(
      collection: definition.collection, name: definition.name, parts: definition.parts,
      isUnique: !definition.isUnique, filter: definition.filter, weights: definition.weights,
      tokenizer: definition.tokenizer, unicode: definition.unicode)

    try put(IndexRecord(other, .complete).encoded(number: number), number, in: store)
    #expect(try store.check().problems.map(\.place) == ["index \(number)"])
    try put(whole, number, in: store)
    #expect(try store.check().problems == [])
    try put(damaged, number, in: store)
    #expect(try store.check().problems.map(\.place) == ["index \(number)"])

    try store.close()
    guard case .damagedCatalogue? = storeError({ _ = try Store(at: folder.store) }) else {
      Issue.record("another error, or none")
      return
    }
  }

  @Test("a check finds a record of an index that is not in use")
  func unknown() throws {
    let (number, body) = try make()
    let store = try Store(at: folder.store)

    try put(sealed(body, number + 1), number + 1, in: store)

    #expect(try store.check().problems.map(\.place) == ["indexes"])
    try store.close()
  }

  /// Writes into an open store what no store writes.
  private func put(_ bytes: [UInt8], _ number: UInt32, in store: Store) throws {
    try store.write { tx in
      let database = try #require(
        tx.engine.environment.knownDatabase(named: Layout.indexesName))
      try bytes.withUnsafeBytes { bytes in
        try withUnsafeBytes(of: number.bigEndian) { key in
          try tx.transaction.put(bytes, for: key, in: database)
        }
      }
      tx.hasWrittenMore = true
    }
  }

  private func put(_ bytes: [UInt8], _ number: UInt32) throws {
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: Layout.indexesName, create: false))
      var transaction = try environment.beginWrite()
      try bytes.withUnsafeBytes { bytes in
        try withUnsafeBytes(of: number.bigEndian) { key in
          try transaction.put(bytes, for: key, in: database)
        }
      }
      try transaction.commit()
    }
  }

  /// Reads and writes by the index, with its type and without.
  private func work() throws {
    let store = try Store(at: folder.store)
    defer { try? store.close() }
    let lockers = store.repository(of: Locker.self)
    _ = try lockers.fetch(Locker.where { $0.at.row == 5 })
    _ = try lockers.distinct(\.at.row)
    try lockers.save(Locker(id: 30, at: LockerPlace(row: 1)))
    try lockers.delete(keys: [30])
    _ = try store.collection("Locker").indexes()
    _ = try store.check()
  }
}

@Document
private struct Locker {
  var id: Int
  var at = LockerPlace(row: 5)

  static let indexes: [Index<Locker>] = [Index(\.at.row)]
}

@EmbeddedDocument
private struct LockerPlace {
  var row = 1
}
