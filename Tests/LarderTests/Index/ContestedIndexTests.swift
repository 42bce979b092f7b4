import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Unique indexes that are not, or not yet, what their declaration says.
@Suite struct ContestedIndexTests {
  private func isRefused(_ body: () throws -> Void) -> Bool {
    guard case .uniqueViolation("Parcel", "code", _, _, _)? = storeError({ try body() }) else {
      return false
    }
    return true
  }

  @Test("while a unique index is being built, no value of a document that it lacks is given again")
  func building() throws {
    try withTemporaryStore { store in
      let count = 20_000
      let plain = store.repository(of: PlainParcel.self)
      try plain.save((0..<count).map { PlainParcel(id: $0, code: "\($0)") })
      let parcels = store.repository(of: Parcel.self)

      // The first save declares the index; the build comes to the last documents much later.
      #expect(isRefused { try parcels.save(Parcel(id: count, code: "\(count - 1)")) })
      try parcels.save(Parcel(id: count, code: "new"))
      #expect(isRefused { try parcels.save(Parcel(id: count + 1, code: "\(count - 2)")) })
      #expect(isRefused { try plain.save(PlainParcel(id: count + 1, code: "\(count - 3)")) })
      try parcels.save(Parcel(id: count - 1, code: "moved"))
      try parcels.save(Parcel(id: count + 1, code: "\(count - 1)"))

      try store.collection("Parcel").buildIndexes()
      #expect(try parcels.count() == count + 2)
      #expect(try store.collection("Parcel").indexes().allSatisfy { $0.state == .complete })
    }
  }

  @Test("a unique index that stored documents contradict lets no other document in, and is logged")
  func failed() throws {
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let folder = TestFolder()
    let store = try Store(at: folder.store, options: options)
    let plain = store.repository(of: PlainParcel.self)
    try plain.save((0..<10).map { PlainParcel(id: $0, code: "\($0 % 9)") })
    let parcels = store.repository(of: Parcel.self)
    try parcels.save(Parcel(id: 20, code: "new"))
    let index = try #require(
      try store.collection("Parcel").indexes().first { $0.name == "code" })
    guard case .failed = index.state else {
      Issue.record("\(index.state)")
      return
    }

    #expect(isRefused { try parcels.save(Parcel(id: 21, code: "new")) })
    #expect(isRefused { try parcels.save(Parcel(id: 21, code: "3")) })
    #expect(isRefused { try plain.save(PlainParcel(id: 21, code: "0")) })
    try parcels.save(Parcel(id: 21, code: "free"))
    try parcels.save(Parcel(id: 0, code: "0", note: "changed beside its value"))
    let told = events.withLock { $0 }.filter {
      $0.message == "a unique index has two documents with the same value" && $0.level == .error
    }
    #expect(told.count == 1)
    #expect(told.first?.metadata == ["collection": "Parcel", "index": "code"])

    try parcels.save(Parcel(id: 9, code: "9"))
    try store.collection("Parcel").rebuildIndexes()
    #expect(try store.collection("Parcel").indexes().allSatisfy { $0.state == .complete })
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test("two versions of a type that save by turns do not replace each other's index")
  func versions() throws {
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let folder = TestFolder()
    var store = try Store(at: folder.store, options: options)
    var old = store.repository(of: OldTicket.self)
    var new = store.repository(of: NewTicket.self)
    try old.save((0..<10).map { OldTicket(id: $0, code: "\($0)") })
    try new.save(NewTicket(id: 10, code: "10"))
    let number = try indexNumber(in: store)

    for turn in 0..<3 {
      try old.save(OldTicket(id: 20 + turn, code: "old \(turn)"))
      try new.save(NewTicket(id: 30 + turn, code: "new \(turn)"))
      guard case .uniqueViolation? = storeError({ try old.save(OldTicket(id: 40, code: "3")) })
      else {
        Issue.record("the old version saved a second document with the value")
        return
      }
      if turn == 1 {
        // The older version comes first after the next opening, too.
        try store.close()
        store = try Store(at: folder.store, options: options)
        old = store.repository(of: OldTicket.self)
        new = store.repository(of: NewTicket.self)
      }
    }
    #expect(try indexNumber(in: store) == number)
    let told = events.withLock { $0 }.filter {
      $0.message == "an index stays as another version of the type has declared it"
    }
    #expect(!told.isEmpty)
    #expect(told.allSatisfy { $0.metadata == ["collection": "Ticket", "index": "code"] })

    // Who means it drops the index, and makes another one by hand.
    guard
      case .indexNotAllowed("Ticket", "code", _)? = storeError({
        try store.collection("Ticket").createIndex(on: "code", name: "code")
      })
    else {
      Issue.record("a plain index took the place of a unique one")
      return
    }
    try store.collection("Ticket").dropIndex("code")
    try store.collection("Ticket").createIndex(on: "code", name: "code")
    #expect(try store.collection("Ticket").indexes().map(\.isUnique) == [false])
    try old.save(OldTicket(id: 40, code: "3"))
    try store.close()
  }

  @Test("an earlier version that the store has not met before does not end what is unique for good")
  func unknownVersion() throws {
    let folder = TestFolder()
    var store = try Store(at: folder.store)
    try store.repository(of: NewTicket.self).save(NewTicket(id: 0, code: "0"))
    try store.repository(of: OldTicket.self).save(OldTicket(id: 1, code: "1"))
    for turn in 0..<2 {
      let (old, new) = (
        store.repository(of: OldTicket.self), store.repository(of: NewTicket.self)
      )
      try new.save(NewTicket(id: 2, code: "2"))
      #expect(try store.collection("Ticket").indexes().map(\.isUnique) == [true])
      for body in [
        { _ = try old.save(OldTicket(id: 3, code: "0")) },
        { _ = try new.save(NewTicket(id: 3, code: "0")) },
      ] {
        guard case .uniqueViolation? = storeError(body) else {
          Issue.record("a second document with the value was saved, turn \(turn)")
          return
        }
      }
      try store.close()
      store = try Store(at: folder.store)
    }
    try verifyAndClose(store)
  }

  private func indexNumber(in store: Store) throws -> [UInt32] {
    try store.read { snapshot in
      try #require(snapshot.catalogue["Ticket"]).indexes.map(\.number)
    }
  }

  // MARK: Long values

  private static let long = String(repeating: "https://example.org/", count: 20)

  @Test(
    "values that differ behind what an index keeps of them are told apart without their documents")
  func longValues() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save((0..<2_000).map { Parcel(id: $0, code: Self.long + "\($0)") })

      #expect(isRefused { try parcels.save(Parcel(id: -1, code: Self.long + "77")) })
      try parcels.save(Parcel(id: -1, code: Self.long + "-1"))
      let query = Parcel.where { $0.code == Self.long + "77" }
      #expect(try parcels.fetch(query).map(\.id) == [77])
      #expect(try parcels.count(query) == 1)
      #expect(try query.explain(in: store).examinedCount == 1)
      #expect(try parcels.count(Parcel.where { $0.code == Self.long }) == 0)
      #expect(try parcels.delete(query) == 1)
      try parcels.save(Parcel(id: -2, code: Self.long + "77"))
      #expect(try store.check().isSound)
    }
  }

  @Test(
    "a unique index reads about as much for long values with the same beginning as for others")
  func longValuesAreCheap() throws {
    func readCount(_ code: @escaping (Int) -> String) throws -> Int {
      try withTemporaryStore { store in
        let parcels = store.repository(of: Parcel.self)
        try parcels.save(Parcel(id: -1, code: nil))
        let all = (0..<1_500).map { Parcel(id: $0, code: code($0)) }
        let folder = store.folder.path
        let count = Locked(0)
        _ = CallFaults.watch(folder) { call in
          if call == .get || call == .moveCursor { count.withLock { $0 += 1 } }
          return nil
        }
        defer { CallFaults.stopWatching(folder) }
        try parcels.save(all)
        return count.withLock { $0 }
      }
    }
    let others = try readCount { "\($0)" + Self.long }
    let alike = try readCount { Self.long + "\($0)" }
    // Comparing each with all of the others would take a million.
    #expect(others > 0)
    #expect(alike < others + 20 * 1_500)
  }
}

/// What an app first shipped.
@Document(as: "Ticket")
private struct OldTicket: Identifiable, Equatable {
  var id: Int
  @Indexed var code: String
}

/// What its next version ships.
@Document(as: "Ticket")
private struct NewTicket: Identifiable, Equatable {
  var id: Int
  @Indexed(unique: true) var code: String
}
