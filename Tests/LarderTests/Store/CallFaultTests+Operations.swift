import Foundation
import Larder
import LarderTestProcess
import LarderTesting

extension CallFaultTests {
  /// Something that an app does with a store.
  struct Operation: Sendable, CustomStringConvertible {
    let description: String
    /// Whether it is more than one transaction, so that some of it may be kept.
    var isInSteps = false
    /// Whether it waits, without end, for a map that another process has outgrown.
    var waitsForMap = false
    let run: @Sendable (Store) async throws -> Void

    init(
      _ description: String, isInSteps: Bool = false, waitsForMap: Bool = false,
      _ run: @escaping @Sendable (Store) async throws -> Void
    ) {
      self.description = description
      self.isInSteps = isInSteps
      self.waitsForMap = waitsForMap
      self.run = run
    }
  }

  private static let oslo = Contact.where { $0.city == "Oslo" }
  private static let many = (5..<40).map { Contact(id: "\($0)", city: "Trondheim", order: $0) }

  static var operations: [Operation] { [handovers, reads, writes, steps].flatMap { $0 } }

  private static let reads: [Operation] = [
    Operation("get") { _ = try $0.repository(of: Contact.self).get("3") },
    Operation("fetch") { _ = try $0.repository(of: Contact.self).fetch(oslo) },
    Operation("fetch by an index") { store in
      let query = Parcel.where { $0.shelf == 1 }.sorted(by: \.note)
      _ = try store.repository(of: Parcel.self).fetch(query)
    },
    Operation("count") { _ = try $0.repository(of: Contact.self).count(oslo) },
    Operation("page") { store in
      let query = Contact.all.sorted(by: \.city).limit(5)
      let first = try store.repository(of: Contact.self).page(query, after: nil)
      _ = try store.repository(of: Contact.self).page(query, after: first.next)
    },
    Operation("batches") { store in
      for try await _ in store.repository(of: Contact.self).batches(size: 5) {}
    },
    Operation("sum") { _ = try $0.repository(of: Contact.self).sum(\.order) },
    Operation("for each") { try $0.repository(of: Contact.self).forEach { _ in true } },
    Operation("dynamic reads") { store in
      _ = try store.collection("Contact").get("3")
      _ = try store.collection("Contact").documents()
      _ = try store.collectionNames()
    },
    Operation("statistics") { _ = try $0.statistics() },
    Operation("watch", waitsForMap: true) { store in
      var changes = store.repository(of: Contact.self).watch(oslo).makeAsyncIterator()
      _ = try await changes.next()
    },
  ]

  private static let writes: [Operation] = [
    Operation("save new") {
      _ = try $0.repository(of: Contact.self).save(Contact(id: "new", city: "Oslo"))
    },
    Operation("save one") {
      _ = try await $0.repository(of: Contact.self).save(Contact(id: "3", city: "Tromsø"))
    },
    Operation("save many") { _ = try await $0.repository(of: Contact.self).save(many) },
    Operation("save with indexes") { store in
      let parcels = (6..<20).map { Parcel(id: $0, code: "new-\($0)", shelf: 7, labels: ["c"]) }
      _ = try store.repository(of: Parcel.self).save(parcels)
    },
    Operation("swap unique values") { store in
      let parcels = [Parcel(id: 1, code: "code-2"), Parcel(id: 2, code: "code-1")]
      _ = try store.repository(of: Parcel.self).save(parcels)
    },
    Operation("clear before save") {
      _ = try await $0.repository(of: Contact.self).save(many, clearBeforeSaving: oslo)
    },
    Operation("update one") {
      _ = try await $0.repository(of: Contact.self).update("3") { $0.city = "Tromsø" }
    },
    Operation("save through a mapper") { store in
      let models = (0..<20).map { SampleModel(id: "\($0 * 7 % 20)", rank: $0) }
      _ = try store.repository(of: Sample.self, mappedBy: SampleMapper()).save(models)
    },
    Operation("delete a query") { _ = try $0.repository(of: Contact.self).delete(oslo) },
    Operation("delete keys") {
      _ = try await $0.repository(of: Parcel.self).delete(keys: [1, 2, 3])
    },
    Operation("erase all") { _ = try $0.repository(of: Parcel.self).eraseAllData() },
    Operation("a write of several") { store in
      try await store.write { tx in
        try tx.save(Contact(id: "new", city: "Oslo"))
        try tx.delete(Parcel.self, 3)
        try tx.save(Parcel(id: 30, code: "30"))
      }
    },
    Operation("a write that swallows") { store in
      try store.write { tx in
        try tx.save(Contact(id: "new", city: "Oslo"))
        // What stopped half-way must stop the whole.
        _ = try? tx.save(Contact(id: "newer", city: "Oslo"))
        _ = try? tx.delete(Contact.self, "3")
        if try tx.get(Contact.self, "newer") == nil || tx.get(Contact.self, "3") != nil {
          throw StoreError.noCollection("")
        }
      }
    },
    Operation("dynamic save") { store in
      _ = try store.collection("Parcel").save([["id": 3, "shelf": 9]])
    },
    Operation("change in place") { store in
      try store.write { tx in
        _ = try tx.update(Contact.self, "3") { $0.order += 1 }
      }
    },
    Operation("first save of a type") {
      _ = try $0.repository(of: Account.self).save(Account(number: 1, balance: 1))
    },
    Operation("first dynamic save") {
      _ = try $0.collection("new").save([["id": "a", "text": "b"]], keyField: "id")
    },
    Operation("flush") { try await $0.flush() },
  ]

  private static let steps: [Operation] = [
    Operation("migrate", isInSteps: true) { store in
      try store.collection("Contact").migrate(to: 1, batchCount: 5) { _ in }
      try store.collection("Contact").migrate(to: 2, batchCount: 5) { document in
        document["city"] = .string("moved")
      }
    },
    Operation("drop an index", isInSteps: true) {
      _ = try $0.collection("Parcel").dropIndex("shelf")
    },
    Operation("rebuild indexes", isInSteps: true) {
      try $0.collection("Parcel").rebuildIndexes()
    },
    Operation("switch the change log off", isInSteps: true) {
      try $0.collection("Contact").setChangeLog(false)
    },
    Operation("changes after a token", isInSteps: true, waitsForMap: true) { store in
      var changes = store.changes(after: try store.changeToken()).makeAsyncIterator()
      _ = try await store.repository(of: Contact.self).save(Contact(id: "new", city: "Oslo"))
      // Saved already, where it failed behind that the first time.
      _ = try await store.repository(of: Contact.self).save(
        Contact(id: "newer", city: UUID().uuidString))
      _ = try await changes.next()
      _ = try await store.repository(of: Contact.self).delete(keys: ["newer"])
    },
    Operation("consume", isInSteps: true, waitsForMap: true) { store in
      var changes = store.changes(for: "reader").makeAsyncIterator()
      if let batch = try await changes.next() {
        try await store.write { try $0.acknowledge(batch) }
      }
    },
  ]
  /// What closes the store for a while, or hands documents to others and takes them from them.
  private static let handovers: [Operation] = [
    Operation("suspend and resume") { store in
      try store.suspend(timeout: .seconds(300))
      guard store.isSuspended else { throw Wrong("it is not suspended") }
      try store.resume()
      _ = try store.repository(of: Contact.self).get("3")
    },
    Operation("suspend and resume a consumer", isInSteps: true, waitsForMap: true) { store in
      var changes = store.changes(for: "reader").makeAsyncIterator()
      let first = try await changes.next()
      try store.suspend(timeout: .seconds(300))
      try store.resume()
      if let first { try await store.write { try $0.acknowledge(first) } }
    },
    Operation("publish") { store in
      let folder = store.folder.appending(path: "../published")
      let report = try store.publish(oslo, Parcel.all, to: folder)
      guard report.documentCount == 18 else { throw Wrong("\(report)") }
    },
    Operation("read what is published") { store in
      let folder = store.folder.appending(path: "../published")
      try store.publish(oslo, to: folder)
      let reader = try Store(published: folder)
      defer { try? reader.close() }  // It closes where it is let go of, too.
      try store.publish(oslo, Parcel.all, to: folder)
      let newer = try reader.newerPublication()
      defer { try? newer?.close() }
      let counts = try [reader, newer ?? reader].map { reader in
        (
          try reader.repository(of: Contact.self).count(),
          try reader.repository(of: Parcel.self).count()
        )
      }
      guard counts[0] == (6, 0), counts[1] == (6, 12) else { throw Wrong("\(counts)") }
    },
    // Twice, as the note of a letter goes with the second one.
    Operation("post and collect", isInSteps: true) { store in
      let mailbox = Mailbox(at: store.folder.appending(path: "../mailbox"))
      try mailbox.post(many, [Parcel(id: 30, code: "30")])
      for _ in 0..<2 {
        let report = try store.collect(Contact.self, Parcel.self, from: mailbox)
        if let (_, error) = report.unreadable.first { throw error }
      }
    },
  ]

  /// Thrown by an operation that returned something else than it should: no error of the library's, so that
  /// it fails the test.
  private struct Wrong: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }
}
