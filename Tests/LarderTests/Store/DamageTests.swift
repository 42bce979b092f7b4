import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct DamageTests {
  let folder = TestFolder()
  let notes = (0..<20).map {
    Note(id: "note-\($0 + 10)", nonce: "nonce \($0)", batchCount: 1)
  }

  /// A store whose record of `note-15` has one bit turned.
  private func damagedStore(at position: Int) throws -> Store {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(notes)
    try store.close()
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: Layout.documentsName(of: "Note"), create: false))
      try flip(in: environment, database, key: Array("note-15".utf8), at: position)
    }
    return try Store(at: folder.store)
  }

  private func isDamaged(_ error: StoreError?) -> Bool {
    guard case .damagedRecord("Note", #""note-15""#, _)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return false
    }
    return true
  }

  @Test(
    "a damaged record is told by name, hides nothing else, and is mended by a save",
    arguments: [0, 1, 2, 6, 14, 20, -1, -8, -9])
  func damagedRecord(position: Int) throws {
    let store = try damagedStore(at: position)
    let repository = store.repository(of: Note.self)

    #expect(isDamaged(storeError { _ = try repository.get("note-15") }))
    #expect(isDamaged(storeError { _ = try repository.get(keys: ["note-11", "note-15"]) }))
    #expect(isDamaged(storeError { _ = try repository.fetch(Note.all) }))
    #expect(isDamaged(storeError { _ = try repository.fetch(Note.all.sorted(by: \.nonce)) }))
    #expect(isDamaged(storeError { _ = try store.collection("Note").get("note-15") }))
    #expect(isDamaged(storeError { _ = try store.collection("Note").documents() }))
    #expect(try repository.count() == 20)
    #expect(try repository.get("note-14") == notes[4])
    #expect(try repository.fetch(Note.all.limit(5)) == Array(notes[..<5]))
    let reports = Locked<[String]>([])
    let readable = Note.all.skippingUnreadable { document in
      reports.withLock { $0.append("\(document.key) \(document.isFromOtherVersion)") }
    }
    let whole = notes.filter { $0.id != "note-15" }
    let byNonce = whole.sorted { $0.nonce < $1.nonce }
    #expect(try repository.fetch(readable) == whole)
    #expect(try repository.fetch(readable.sorted(by: \.nonce)) == byNonce)
    #expect(try repository.fetch(readable.sorted(by: \.nonce).limit(19)) == byNonce)
    #expect(try repository.page(readable.sorted(by: \.nonce).limit(19)).models == byNonce)
    #expect(reports.withLock { Set($0) } == [#""note-15" false"#])
    let report = try store.check()
    #expect(report.problems.map(\.place) == [#"Note "note-15""#])
    #expect(report.documentCount == 20)

    try repository.save(notes[5])

    #expect(try repository.get("note-15") == notes[5])
    #expect(try repository.fetch(Note.all) == notes)
    try verifyAndClose(store)
  }

  @Test("a record whose key is damaged as well is not told to be mended by its key")
  func damagedKey() throws {
    let store = try Store(at: folder.store)
    let repository = store.repository(of: Note.self)
    try repository.save(notes)
    var bytes = [UInt8](try contents(of: folder.data))
    let key = Array("note-15".utf8)
    let descriptor = open(folder.data, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var count = 0
    for place in 8..<(bytes.count - key.count) where bytes[place..<place + key.count] == key[...] {
      // LMDB has the length of a key just before it.
      guard bytes[place - 2] == 7, bytes[place - 1] == 0 else { continue }
      bytes[place - 2] = 0
      #expect(pwrite(descriptor, [0], 1, off_t(place - 2)) == 1)
      count += 1
    }
    try #require(count > 0)

    let error = storeError { _ = try repository.fetch(Note.all) }

    guard case .damagedRecord("Note", "", _)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(error?.description.contains("whose key is not known") == true)
    #expect(error?.description.contains("larder quarantine") == true)
    #expect(error?.description.contains("Save or delete") == false)
    try store.close()
  }

  @Test("a damaged record is gone once it is deleted, or its collection is erased")
  func deleting() throws {
    for step in 0..<2 {
      let store = try damagedStore(at: -9)
      let repository = store.repository(of: Note.self)
      if step == 0 {
        #expect(try repository.delete(keys: ["note-15"]) == 1)
        #expect(try repository.fetch(Note.all).count == 19)
      } else {
        #expect(try repository.eraseAllData() == 20)
      }
      try verifyAndClose(store)
    }
    let store = try damagedStore(at: -9)
    #expect(
      try store.repository(of: Note.self).save(notes, clearBeforeSaving: Note.all).changed == 1)
    #expect(try store.repository(of: Note.self).delete(Note.all) == 20)
    try verifyAndClose(store)
  }

  @Test("a change that stops half-way is not kept even where its error is swallowed")
  func swallowedHalfWay() throws {
    // The filter cannot read this record's nonce, after five others were deleted.
    let store = try damagedStore(at: 0)
    let repository = store.repository(of: Note.self)
    let query = Note.where { $0.nonce != "" }

    for isSave in [true, false] {
      let error = storeError {
        try store.write { tx in
          try tx.save(Note(id: "kept", nonce: "", batchCount: 1))
          do {
            if isSave { try tx.save([Note](), clearBeforeSaving: query) }
            if !isSave { try tx.delete(query) }
            Issue.record("the damaged record was read")
          } catch {}
        }
      }

      #expect(isDamaged(error))
      #expect(try repository.count() == 20)
      #expect(try repository.get("kept") == nil)
    }
    try store.close()
  }

  @Test("a record under another key, or in another collection, is found out")
  func movedRecord() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(notes)
    try store.collection("Other").save(
      [["id": "note-12", "nonce": "n", "batchCount": 1]], keyField: "id")
    try store.close()
    try withEnvironment(folder.store) { environment in
      let here = try #require(try environment.database(named: "documents/Note", create: false))
      let there = try #require(try environment.database(named: "documents/Other", create: false))
      var transaction = try environment.beginWrite()
      try copy("note-11", in: here, to: "note-10", in: here, &transaction)
      try copy("note-12", in: here, to: "note-12", in: there, &transaction)
      try transaction.commit()
    }

    let again = try Store(at: folder.store)

    let error = storeError { _ = try again.repository(of: Note.self).get("note-10") }
    guard case .damagedRecord("Note", #""note-10""#, .checksum)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    let other = storeError { _ = try again.collection("Other").get("note-12") }
    guard case .damagedRecord("Other", #""note-12""#, .checksum)? = other else {
      Issue.record("thrown was \(String(describing: other))")
      return
    }
    #expect(
      try again.check().problems.map(\.place) == [
        #"Note "note-10""#, #"Other "note-12""#,
      ])
    try again.close()
  }

  private func copy(
    _ key: String, in source: Database, to newKey: String, in target: Database,
    _ transaction: inout WriteTransaction
  ) throws {
    let record = try Array(key.utf8).withUnsafeBytes {
      try transaction.withValue(for: $0, in: source) { [UInt8]($0) }
    }
    try #require(record).withUnsafeBytes { record in
      try Array(newKey.utf8).withUnsafeBytes { try transaction.put(record, for: $0, in: target) }
    }
  }

  @Test("bits that turn in the file itself are found in the records that they concern")
  func patchedFile() throws {
    let store = try Store(at: folder.store)
    let repository = store.repository(of: Note.self)
    try repository.save(notes)
    try store.close()
    let whole = try contents(of: folder.data)
    for (number, note) in notes.enumerated() where number % 4 == 0 {
      // Pages that are free again hold older copies: each is patched.
      var bytes = whole
      var start = bytes.startIndex
      while let found = bytes[start...].firstRange(of: Data(note.nonce.utf8)) {
        bytes[found.lowerBound] ^= 0x01
        start = found.upperBound
      }
      try replaceContents(of: folder.data, by: bytes)

      let patched = try Store(at: folder.store)

      let reading = patched.repository(of: Note.self)
      let names = try patched.check().problems.map(\.place)
      #expect(names.contains(#"Note "\#(note.id)""#))
      let error = storeError { _ = try reading.get(note.id) }
      guard case .damagedRecord("Note", #""\#(note.id)""#, .checksum)? = error else {
        Issue.record("thrown was \(String(describing: error))")
        return
      }
      #expect(try reading.count() == 20)
      try reading.save(notes)
      #expect(try reading.fetch(Note.all) == notes)
      try verifyAndClose(patched)
    }
  }

  @Test(
    "a store whose catalogue has lost its name is damaged, and not empty",
    arguments: ["larder.catalogue", "larder.indexes"])
  func lostName(_ name: String) throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Parcel.self).save([Parcel(id: 1, code: "a"), Parcel(id: 2, code: "b")])
    try store.close()
    var bytes = try contents(of: folder.data)
    var start = bytes.startIndex
    while let found = bytes[start...].firstRange(of: Data(name.utf8)) {
      bytes[found.upperBound - 2] ^= 0x02
      start = found.upperBound
    }
    try replaceContents(of: folder.data, by: bytes)

    let error = storeError { _ = try Store(at: folder.store) }

    guard case .damagedCatalogue(let what)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(what.contains("\(name) is missing"))
  }
}
