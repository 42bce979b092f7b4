import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct QueryAgreementTests {
  @Test("fetch, count, delete and clear-before-save agree on what a filter matches")
  func agreement() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: Specimen.self)
      for _ in 0..<repetitions(100) {
        let specimens = Pool.texts.dropFirst().map { Specimen(id: $0, using: &random) }
        try repository.save(specimens, clearBeforeSaving: Specimen.all)
        let condition = Condition.random(depth: 3, using: &random)
        let query = Specimen.where(condition.filter)
        let hint = Comment(rawValue: "\(query), \(random.hint)")
        let before = try repository.fetch(Specimen.all)
        let kept = before.filter { !condition.holds($0) }.map(\.id)

        #expect(try repository.fetch(query).count == before.count - kept.count, hint)
        #expect(try repository.count(query) == before.count - kept.count, hint)
        let cleared = try cleared(query, in: store)
        #expect(cleared.report.deleted == before.count - kept.count, hint)
        #expect(cleared.left == kept + ["new"], hint)
        #expect(try repository.delete(query) == before.count - kept.count, hint)
        #expect(try repository.fetch(Specimen.all).map(\.id) == kept, hint)
        #expect(try repository.count(query) == 0, hint)
      }
    }
  }

  /// What a clear-before-save would do, in a transaction that is not kept.
  private func cleared(
    _ query: Query<Specimen>, in store: Store
  ) throws -> (report: SaveReport, left: [String]) {
    struct Undo: Error {}
    var random = RandomSource(seed: 1)
    let new = Specimen(id: "new", using: &random)
    var result = (report: SaveReport(), left: [String]())
    do {
      try store.write { tx in
        result.report = try tx.save([new], clearBeforeSaving: query)
        result.left = try tx.fetch(Specimen.all).map(\.id).filter { $0 != new.id } + [new.id]
        throw Undo()
      }
    } catch is Undo {}
    return result
  }

  @Test(
    "limit and offset cut the same piece out of fetch and count",
    arguments: [0, 1, 9, 10, 11, .max - 1, .max], [0, 1, 9, 10, 11, .max - 1, .max])
  func pieces(limit: Int, offset: Int) throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      let contacts = (0..<10).map { Contact(id: "\($0)", city: "Oslo", order: 9 - $0) }
      try repository.save(contacts)
      let piece = Array(contacts.dropFirst(offset).prefix(limit))
      let reversed = Array(contacts.reversed().dropFirst(offset).prefix(limit))

      let all = Contact.all.offset(offset).limit(limit)
      let filtered = Contact.where { $0.city == "Oslo" }.limit(limit).offset(offset)
      let sorted = filtered.sorted(by: \.order)

      #expect(try repository.fetch(all) == piece)
      #expect(try repository.count(all) == piece.count)
      #expect(try repository.fetch(filtered) == piece)
      #expect(try repository.count(filtered) == piece.count)
      #expect(try repository.fetch(sorted) == reversed)
      #expect(try repository.count(sorted) == piece.count)
    }
  }

  @Test("a negative limit selects nothing, and a negative offset skips nothing")
  func negative() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save([Contact(id: "a", city: "Oslo"), Contact(id: "b", city: "Oslo")])

      #expect(try repository.fetch(Contact.all.limit(-1)).isEmpty)
      #expect(try repository.count(Contact.all.limit(-1)) == 0)
      #expect(try repository.count(Contact.all.offset(-1)) == 2)
    }
  }

  @Test("of two limits the smaller holds, of two offsets the last")
  func repeated() throws {
    #expect(Contact.all.limit(3).limit(5) == Contact.all.limit(3))
    #expect(Contact.all.limit(5).limit(3) == Contact.all.limit(3))
    #expect(Contact.all.offset(3).offset(5) == Contact.all.offset(5))
  }

  @Test("delete and clear-before-save refuse a limit and an offset and change nothing")
  func refused() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      let contact = Contact(id: "a", city: "Oslo")
      try repository.save(contact)

      for query in [Contact.all.limit(1), Contact.all.limit(0), Contact.all.offset(1)] {
        let reason = query == Contact.all.offset(1) ? "it has an offset" : "it has a limit"
        #expect(throws: StoreError.queryNotAllowed(operation: "delete", reason: reason)) {
          try repository.delete(query)
        }
        #expect(throws: StoreError.queryNotAllowed(operation: "clearBeforeSaving", reason: reason))
        {
          try repository.save([contact], clearBeforeSaving: query)
        }
      }
      #expect(try repository.fetch(Contact.all) == [contact])
    }
  }

  @Test("delete ignores a sort")
  func sortedDelete() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save([Contact(id: "a", city: "Oslo"), Contact(id: "b", city: "Bergen")])

      let query = Contact.where { $0.city == "Oslo" }.sorted(by: \.name, .reverse)

      #expect(try repository.delete(query) == 1)
      #expect(try repository.fetch(Contact.all).map(\.id) == ["b"])
    }
  }

  @Test("a query of a collection that does not exist selects nothing")
  func missingCollection() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      let query = Contact.where { $0.city == "Oslo" }.sorted(by: \.name)

      let found = try repository.fetch(query)
      let deleted = try repository.delete(query)

      #expect(found.isEmpty)
      #expect(deleted == 0)
      #expect(try repository.count(query) == 0)
    }
  }
}
