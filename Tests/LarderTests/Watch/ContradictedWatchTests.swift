import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

/// Documents that came or went without the change log: what follows from a change is then not what
/// the store has, and the rows are read anew.
@Suite struct ContradictedWatchTests {
  private typealias Watch = ResultWatch<Contact, Contact>

  private func contacts(_ numbers: ClosedRange<Int>) -> [Contact] {
    numbers.map { Contact(id: "\($0)", city: "Oslo") }
  }

  /// Writes documents, or takes them away, as if by somebody who knows of no log.
  private func meddle(
    _ store: Store, inserting inserted: [Contact] = [], deleting deleted: [String] = []
  ) throws {
    try store.write { tx in
      let binding = try tx.declared(Contact.self)
      let documents = binding.collection.documents
      let batch = try inserted.withUnsafeBufferPointer { try Batch($0, binding) }
      for entry in batch.entries {
        try tx.transaction.put(entry.record, for: entry.key, in: documents)
      }
      for id in deleted {
        try id.withEncodedKey { _ = try tx.transaction.delete($0, in: documents) }
      }
      tx.hasWrittenMore = true
    }
  }

  private func step(_ watch: inout Watch, _ list: inout [Contact]) throws {
    if let change = try watch.next(skippingTo: 0) { list.apply(change) }
  }

  @Test("a change of a document that a watcher does not know has it read all of them")
  func unknown() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts(1...3))
      let query = Contact.all.sorted(by: \.id)
      var watch = Watch(store, query.selection, RowReader(query.selection))
      var list: [Contact] = []
      try step(&watch, &list)

      try meddle(store, inserting: contacts(7...8))
      try repository.delete(keys: ["8"])
      try step(&watch, &list)

      #expect(list.map(\.id) == ["1", "2", "3", "7"])
      #expect(try list == repository.fetch(query))
      #expect(watch.rereadCount == 1)
    }
  }

  @Test("rows that do not go on where the known ones end are compared with what was seen last")
  func refill() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts(1...9))
      let query = Contact.all.sorted(by: \.id).limit(3)
      var watch = Watch(store, query.selection, RowReader(query.selection), marginCount: 0)
      var list: [Contact] = []
      try step(&watch, &list)
      #expect(list.map(\.id) == ["1", "2", "3"])

      try meddle(store, deleting: ["2"])
      try repository.delete(keys: ["1"])
      try step(&watch, &list)

      #expect(list.map(\.id) == ["3", "4", "5"])
      #expect(watch.refillCount == 1)
      #expect(watch.rereadCount == 1)
    }
  }
}
