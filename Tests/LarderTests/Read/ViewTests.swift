import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct ViewTests {
  @Test("a view has every field that the decoded document has, and what is computed from them")
  func fields() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: Specimen.self)
      try repository.save(
        Pool.texts.filter { !$0.isEmpty }.map { Specimen(id: $0, using: &random) })
      for specimen in try repository.fetch(Specimen.all) {
        let isSame = try repository.view(specimen.id) { view -> Bool in
          let scalars: Bool =
            try view.id == specimen.id && view.name == specimen.name && view.note == specimen.note
            && view.count == specimen.count && view.big == specimen.big
          let values: Bool =
            try view.tags == specimen.tags && view.numbers == specimen.numbers
            && view.color == specimen.color && view.token == specimen.token
            && view.blob == specimen.blob && view.link == specimen.link
          let inner: Bool =
            try view.base.place.word == specimen.base.place.word
            && view.site?.label == specimen.site?.label
          let computed: Bool =
            try view.title == specimen.title && view.isHeavy == specimen.isHeavy
            && view.words == specimen.words && view.spots?.count == specimen.spots?.count
          return try scalars && values && inner && computed && view.decoded().name == specimen.name
        }
        #expect(isSame == true, Comment(rawValue: random.hint))
      }
      #expect(try repository.view("none") { _ in true } == nil)
      #expect(try repository.view("") { _ in true } == nil)
      #expect(try store.repository(of: Node.self).view("a") { _ in true } == nil)
    }
  }

  @Test("a view reads the default of a field that the record lacks; one without is an error")
  func defaults() throws {
    try withTemporaryStore { store in
      try store.repository(of: OnlyKey.self).save(OnlyKey(id: "a"))
      #expect(try store.repository(of: One<Int?>.self).view("a") { try $0.value } == .some(nil))
    }
    try withTemporaryStore { store in
      try store.repository(of: OnlyKey.self).save(OnlyKey(id: "a"))
      let error = StoreError.damagedRecord(
        collection: "One", key: "\"a\"", reason: .field("value", .missing))
      #expect(throws: error) { try store.repository(of: One<Int>.self).view("a") { try $0.value } }
      #expect(try store.repository(of: One<Int>.self).view("a") { try $0.id } == "a")
    }
  }

  @Test("iteration gives what fetch gives, and ends where the closure says so")
  func iteration() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save((0..<20).map { Contact(id: "\($0 + 10)", order: $0 % 5) })
      let query = Contact.where { $0.order > 0 }.sorted(by: \.order, .reverse)
      for query in [
        query, query.limit(7), query.offset(3), query.offset(3).limit(2), query.limit(0),
      ] {
        var ids: [String] = []
        try contacts.forEach(query) { contact in
          ids.append(contact.id)
          return true
        }
        #expect(ids == (try contacts.fetch(query).map(\.id)))
        var viewed: [String] = []
        try store.read { snapshot in
          try snapshot.forEachView(query) { contact in
            viewed.append(try contact.id)
            return viewed.count < 2
          }
        }
        #expect(viewed == Array(ids.prefix(2)))
      }
    }
  }
}

@Suite struct BatchTests {
  private func withContacts(
    _ count: Int, _ body: (StoreRepository<Contact>) async throws -> Void
  ) async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save((0..<count).map { Contact(id: "\($0 + 100)", order: $0 % 7) })
      try await body(contacts)
    }
  }

  @Test("batches one after the other are what fetch gives")
  func whole() async throws {
    try await withContacts(50) { contacts in
      let sorted = Contact.where { $0.order < 6 }.sorted(by: \.order, .reverse)
      for query in [Contact.all, sorted, sorted.offset(4).limit(21), sorted.limit(0)] {
        for size in [1, 7, 50, 1000, 0] {
          var batches: [[Contact]] = []
          for try await batch in contacts.batches(of: query, size: size) { batches.append(batch) }

          #expect(Array(batches.joined()) == (try contacts.fetch(query)))
          #expect(batches.dropLast().allSatisfy { $0.count == max(1, size) })
          #expect(batches.allSatisfy { !$0.isEmpty })
        }
      }
    }
  }

  @Test("batches see what is saved behind the place that was reached, and hold no moment")
  func changing() async throws {
    try await withContacts(10) { contacts in
      var ids: [String] = []
      for try await batch in contacts.batches(size: 4) {
        ids += batch.map(\.id)
        if ids.count == 4 {
          try await contacts.delete(keys: ["101", "105"])
          try await contacts.save([Contact(id: "1000"), Contact(id: "106a")])
        }
      }
      #expect(ids == (100...104).map(String.init) + ["106", "106a", "107", "108", "109"])
    }
  }

  @Test("the store can be closed between two batches, for no moment is held")
  func closing() async throws {
    let store = try Store.temporary()
    let contacts = store.repository(of: Contact.self)
    try await contacts.save((0..<10).map { Contact(id: "\($0)") })
    var count = 0
    await #expect(throws: StoreError.closed) {
      for try await batch in contacts.batches(size: 4) {
        count += batch.count
        try store.close(timeout: .seconds(0))
      }
    }
    #expect(count == 4)
  }

  @Test("batches end with an error when their task is cancelled")
  func cancelled() async throws {
    try await withContacts(10) { contacts in
      let batches = contacts.batches(size: 2)
      let task = Task {
        var count = 0
        for try await batch in batches {
          count += batch.count
          while !Task.isCancelled { await Task.yield() }
        }
        return count
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("models of a mapper come in batches too")
  func mapped() async throws {
    let repository = InMemoryRepository(mappedBy: SampleMapper())
    try await repository.save((0..<9).map { SampleModel(id: "\($0)", isHidden: $0 % 2 == 0) })
    var ids: [String] = []
    for try await batch in repository.batches(size: 3) { ids += batch.map(\.id) }

    #expect(ids == ["1", "3", "5", "7"])
  }
}
