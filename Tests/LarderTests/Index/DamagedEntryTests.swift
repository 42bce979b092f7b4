import Foundation
import LarderTestKit
import Testing

@testable import Larder
@testable import LarderLMDB

/// Every byte of an entry of an index is damaged in the file, one after the other.
@Suite struct DamagedEntryTests {
  let folder = TestFolder()

  private static let count = 200
  private static let all = (0..<count).map { CodedCrate($0) }

  /// Makes the store; returns its file's bytes.
  private func made() throws -> [UInt8] {
    let store = try Store(at: folder.store)
    try store.repository(of: CodedCrate.self).save(Self.all)
    try store.close()
    return [UInt8](try Data(contentsOf: URL(filePath: folder.store + "/data.mdb")))
  }

  /// Opens the store with a file of these bytes, and damages it then: opening looks at all pages of a
  /// small file, and refuses one whose keys are out of order.
  private func opened(_ bytes: [UInt8], flipping bit: UInt8, at place: Int) throws -> Store {
    let url = URL(filePath: folder.store + "/data.mdb")
    try Data(bytes).write(to: url)
    let store = try Store(at: folder.store)
    let file = try FileHandle(forUpdating: url)
    try file.seek(toOffset: UInt64(place))
    try file.write(contentsOf: [bytes[place] ^ bit])
    try file.close()
    return store
  }

  /// The places of these bytes that are newest in the file.
  private func place(of wanted: [UInt8], in bytes: [UInt8]) throws -> Int {
    let places = (0..<bytes.count - wanted.count).filter {
      bytes[$0] == wanted[0] && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
    }
    #expect(places.count == 1)
    return try #require(places.last)
  }

  /// What an app is told: the right answer, or that the index, or the file, is damaged.
  private func isRightOrRefused<Answer: Equatable>(
    _ right: Answer, _ what: String, at place: Int, _ body: () throws -> Answer
  ) {
    do {
      let answer = try body()
      #expect(answer == right, "\(what), byte \(place)")
    } catch let error as StoreError {
      guard case .damagedIndex("CodedCrate", _, _) = error else {
        Issue.record("\(what), byte \(place): \(error)")
        return
      }
    } catch {
      Issue.record("\(what), byte \(place): \(error)")
    }
  }

  /// The entry of crate 105 in the index over `code`: its key, and the value behind it.
  private static let codeEntry: [UInt8] =
    [0x3C] + Array("c105".utf8) + [0, 1, 0x80, 0, 0, 0, 0, 0, 0, 105]
  /// That in the index over `shelf`.
  private static let shelfEntry: [UInt8] = [0x21, 5, 0x80, 0, 0, 0, 0, 0, 0, 105]

  @Test(
    "no damaged byte of an index entry gives a wrong document, count or order, or deletes one",
    arguments: [codeEntry, shelfEntry])
  func everyByte(entry: [UInt8]) throws {
    let bytes = try made()
    let start = try place(of: entry, in: bytes)
    let shelf = Self.all.filter { $0.shelf == 5 }
    let runs = (0..<10).reversed().flatMap { shelf in
      Self.all.filter { $0.shelf == shelf }.map(\.id)
    }
    for place in start..<start + entry.count + 4 {
      for bit in [UInt8(1), 2, 0x80] {
        let store = try opened(bytes, flipping: bit, at: place)
        let crates = store.repository(of: CodedCrate.self)
        let offset = place - start
        isRightOrRefused([CodedCrate(105)], "fetch", at: offset) {
          try crates.fetch(CodedCrate.where { $0.code == "c105" })
        }
        isRightOrRefused(shelf, "fetch of several", at: offset) {
          try crates.fetch(CodedCrate.where { $0.shelf == 5 })
        }
        isRightOrRefused(shelf.count, "count", at: offset) {
          try crates.count(CodedCrate.where { $0.shelf == 5 })
        }
        isRightOrRefused(1, "count of one", at: offset) {
          try crates.count(CodedCrate.where { $0.code == "c105" })
        }
        isRightOrRefused(shelf.map(\.id), "keys", at: offset) {
          try crates.keys(of: CodedCrate.where { $0.shelf == 5 })
        }
        isRightOrRefused(Self.all.map(\.code), "order", at: offset) {
          try crates.fetch(CodedCrate.all.sorted(by: \.code)).map(\.code)
        }
        isRightOrRefused(Self.all.map(\.code).reversed(), "order, reversed", at: offset) {
          try crates.fetch(CodedCrate.all.sorted(by: \.code, .reverse)).map(\.code)
        }
        isRightOrRefused(runs, "order of runs, reversed", at: offset) {
          try crates.fetch(CodedCrate.all.sorted(by: \.shelf, .reverse)).map(\.id)
        }
        isRightOrRefused(Array(0..<10), "different values", at: offset) {
          try crates.distinct(\.shelf)
        }
        isRightOrRefused(
          Self.all.filter { $0.shelf == 5 && $0.side == 1 }.map(\.id), "intersection", at: offset
        ) {
          try crates.keys(of: CodedCrate.where { $0.shelf == 5 && $0.side == 1 })
        }
        try deletes(store, offset)
        try store.close()
      }
    }
  }

  /// Either all that match are gone and nothing else, or nothing is.
  private func deletes(_ store: Store, _ place: Int) throws {
    let crates = store.repository(of: CodedCrate.self)
    let before = Set(Self.all.map(\.id))
    isRightOrRefused(1, "delete", at: place) {
      try crates.delete(CodedCrate.where { $0.code == "c105" })
    }
    var left = Set(try crates.fetch(CodedCrate.all).map(\.id))
    #expect(left == before || left == before.subtracting([105]), "delete, byte \(place)")

    let matching = left.filter { $0 % 10 == 5 }
    isRightOrRefused(matching.count - 1, "clear", at: place) {
      try crates.save([CodedCrate(5)], clearBeforeSaving: CodedCrate.where { $0.shelf == 5 })
        .deleted
    }
    let cleared = left.subtracting(matching).union([5])
    let now = Set(try crates.fetch(CodedCrate.all).map(\.id))
    #expect(now == left || now == cleared, "clear, byte \(place)")
    left = now

    // A second owner of a value that is in the index already.
    if left.contains(105) {
      var other = CodedCrate(7)
      other.code = "c105"
      isRightOrRefused(false, "a second owner", at: place) {
        do {
          try crates.save(other)
          return true
        } catch StoreError.uniqueViolation {
          return false
        }
      }
    }
  }

  @Test("no damaged byte of the last entry lets a second owner of a unique value in")
  func lastEntry() throws {
    let bytes = try made()
    let last = try #require(Self.all.last)
    let entry: [UInt8] =
      [0x3C] + Array(last.code.utf8) + [0, 1, 0x80, 0, 0, 0, 0, 0, 0, UInt8(last.id)]
    let start = try place(of: entry, in: bytes)
    var refusals = 0
    for place in start..<start + entry.count + 4 {
      for bit in [UInt8(1), 2, 4, 0x20, 0x80] {
        let store = try opened(bytes, flipping: bit, at: place)
        for owner in Self.all.suffix(3) + [Self.all[5]] {
          var other = CodedCrate(Self.count)
          other.code = owner.code
          let error = storeError { try store.repository(of: CodedCrate.self).save(other) }
          switch error {
          case .uniqueViolation, .damagedIndex("CodedCrate", "code", _): refusals += 1
          default:
            let what = error.map { "\($0)" } ?? "saved"
            Issue.record("byte \(place - start), bit \(bit), \(owner.code): \(what)")
          }
        }
        try store.close()
      }
    }
    #expect(refusals == (entry.count + 4) * 5 * 4)
  }

  @Test(
    "a damaged index is found by a check, works again once it is built anew, and its error says so")
  func rebuilt() throws {
    let bytes = try made()
    let last = try place(of: Self.codeEntry, in: bytes) + Self.codeEntry.count - 1
    let store = try opened(bytes, flipping: 2, at: last)
    let crates = store.repository(of: CodedCrate.self)

    let error = storeError { _ = try crates.fetch(CodedCrate.where { $0.code == "c105" }) }
    #expect(
      error
        == .damagedIndex(
          collection: "CodedCrate", index: "code", reason: "the checksum of an entry does not match"
        ))
    #expect("\(error, default: "")".contains("rebuildIndexes()"))
    #expect(try !store.check().isSound)
    try store.collection("CodedCrate").rebuildIndexes()

    #expect(try crates.fetch(CodedCrate.where { $0.code == "c105" }) == [CodedCrate(105)])
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test("a document whose entry is whole and older than it is not deleted by it")
  func olderEntry() throws {
    let store = try Store(at: folder.store)
    let crates = store.repository(of: CodedCrate.self)
    try crates.save(Self.all)
    // As if the pages of the index had not reached the disk with those of the document.
    var moved = CodedCrate(105)
    moved.shelf = 6
    try replaceRecord(by: moved, in: store)

    for body in [
      { _ = try crates.delete(CodedCrate.where { $0.shelf == 5 }) },
      {
        _ = try crates.save([CodedCrate(5)], clearBeforeSaving: CodedCrate.where { $0.shelf == 5 })
      },
    ] {
      guard case .damagedIndex("CodedCrate", "shelf", let reason)? = storeError({ try body() })
      else {
        Issue.record("it was deleted")
        continue
      }
      #expect(reason == "it names a document with other values")
    }
    #expect(try crates.count() == Self.count)
    try store.close()
  }

  /// Gives a document other bytes, and leaves its index entries.
  private func replaceRecord(by crate: CodedCrate, in store: Store) throws {
    let other = try Store(at: folder.path + "/other")
    try other.repository(of: CodedCrate.self).save(crate)
    let record = try other.read { snapshot in
      try crate.id.withEncodedKey { key in
        try snapshot.transaction.withValue(
          for: key, in: #require(snapshot.catalogue["CodedCrate"]).documents
        ) { [UInt8]($0) }
      }
    }
    try other.close()
    let bytes = try #require(record)
    try store.write { tx in
      let documents = try #require(tx.catalogue["CodedCrate"]).documents
      try crate.id.withEncodedKey { key in
        try bytes.withUnsafeBytes { try tx.transaction.put($0, for: key, in: documents) }
      }
      tx.hasWrittenMore = true
    }
  }
}

/// A document with a unique index and two others.
@Document
private struct CodedCrate: Identifiable, Equatable {
  var id: Int
  @Indexed(unique: true) var code: String
  @Indexed var shelf: Int
  @Indexed var side: Int

  init(_ id: Int) {
    self.id = id
    code = "c\(String(1000 + id).dropFirst())"
    shelf = id % 10
    side = id % 2
  }
}
