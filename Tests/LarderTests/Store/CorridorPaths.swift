import Foundation
import LarderTesting
import Testing

@testable import Larder

/// What holds for whatever changes a store.
enum CorridorFact: String, CaseIterable, Sendable {
  case quota = "takes nothing above the quota"
  case reserve = "leaves room for deleting everything"
  case growth = "makes a map larger that may grow"
  case packs = "writes packs of the change log that are bounded"
  case origin = "is logged as who changed it"
  case watchers = "is told to watchers"
  case ageing = "lets go of what is too old"
  case undone = "leaves nothing behind where it is not committed"
}

/// A code path that changes a store. A new one is one more entry of ``all``; every fact then holds
/// for it, or it says why not.
struct CorridorPath: Sendable, CustomStringConvertible {
  let description: String
  /// Who the log says has made the changes.
  var origin = ChangeOrigin.local
  /// Whether it only makes room, and so may take from what is kept for that.
  var isDeleting = false
  /// Facts that say nothing of this path, each with the reason.
  var without: [CorridorFact: String] = [:]
  /// What has to be in the store besides ``documents``.
  var prepare: @Sendable (Store) throws -> Void = { _ in }
  let run: @Sendable (Store) async throws -> Void
}

extension CorridorPath {
  static let count = 1500
  static let long = String(repeating: "long", count: 80)

  /// What every store has before.
  static var documents: [KeptCargo] {
    (0..<count).map { KeptCargo(Cargo(id: $0, text: "\($0) \(long.prefix(200))")) }
  }

  /// What is written over it.
  private static var changed: [Cargo] {
    (0..<count).map { Cargo(id: $0, place: 1, text: "changed \($0) \(long)") }
  }

  private static var dynamic: [DynamicDocument] {
    changed.map {
      [
        "id": .integer(Int64($0.id)), "place": 2, "text": .string($0.text),
        "since": .date($0.since),
      ]
    }
  }

  /// Without the compiler looking for an asynchronous twin of what is called.
  private static func now(
    _ body: @escaping @Sendable (Store) throws -> Void
  ) -> @Sendable (Store) async throws -> Void { { try body($0) } }

  /// Imports documents: `LarderImport` is above this target, and these are the calls that it makes in the end.
  private static func importing(_ store: Store, _ type: (any Document.Type)?) throws {
    let collection = store.collection("Cargo")
    var rehearsal = try SaveRehearsal(collection, keyField: "id", declaring: type)
    try rehearsal.add(dynamic)
    try rehearsal.declare()
    var encoder = TapeEncoder(
      rehearsal, in: try rehearsal.encodingPlace(), rules: nil,
      TapeConversion(value: { _, _ in nil }, isTag: { _ in false }))
    for document in dynamic { try encoder.add(document) }
    let batch = encoder.takeBatch()
    _ = try store.write(as: .imported) { try $0.save(batch, of: rehearsal) }
  }

  /// Imports documents that take the place of all others.
  private static func importingAnew(_ store: Store) throws {
    let new = changed.map { Cargo(id: $0.id + count / 2, text: $0.text) }
    let documents: [DynamicDocument] = new.map {
      [
        "id": .integer(Int64($0.id)), "place": 2, "text": .string($0.text),
        "since": .date($0.since),
      ]
    }
    var rehearsal = try SaveRehearsal(
      store.collection("Cargo"), keyField: "id", declaring: Cargo.self)
    try rehearsal.clear(Cargo.all)
    try rehearsal.add(documents)
    try rehearsal.write(as: .imported) { scope in
      var encoder = TapeEncoder(
        rehearsal, in: try scope.encodingPlace(of: rehearsal), rules: nil,
        TapeConversion(value: { _, _ in nil }, isTag: { _ in false }))
      for document in documents { try encoder.add(document) }
      let batch = encoder.takeBatch()
      try scope.saveTogether(of: rehearsal) { save in _ = try save(batch) }
    }
  }

  private static let untyped = "only a type has rules"
  private static let deleting = "what only deletes is of no type that was saved"
  private static let noDocument = "it changes no document"

  private static let noDocuments: [CorridorFact: String] = [
    .packs: noDocument, .origin: noDocument, .watchers: noDocument, .ageing: noDocument,
  ]

  static let all: [CorridorPath] = [
    CorridorPath(
      description: "save",
      run: now { _ = try $0.repository(of: Cargo.self).save(changed) }),
    CorridorPath(
      description: "saves of tasks that share a transaction",
      run: { store in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for piece in 0..<4 {
            let documents = changed.filter { $0.id % 4 == piece }
            group.addTask { _ = try await store.repository(of: Cargo.self).save(documents) }
          }
          try await group.waitForAll()
        }
      }),
    CorridorPath(
      description: "save, cleared before",
      run: now { store in
        let new = changed.map { Cargo(id: $0.id + count / 2, text: $0.text) }
        _ = try store.repository(of: Cargo.self).save(new, clearBeforeSaving: Cargo.all)
      }),
    CorridorPath(
      description: "save that keeps what is there",
      run: now { store in
        let new = changed.map { Cargo(id: $0.id + count / 2, text: $0.text) }
        _ = try store.repository(of: Cargo.self).save(new, onConflict: .keepExisting)
      }),
    CorridorPath(
      description: "update in place",
      run: now { store in
        try store.write { tx in
          for id in 0..<count { _ = try tx.update(Cargo.self, id) { $0.text = "new \(long)" } }
        }
      }),
    CorridorPath(
      description: "save through a mapper",
      run: now { store in
        _ = try store.repository(of: Cargo.self, mappedBy: FreightMapper()).save(
          changed.map { Freight(id: $0.id, text: $0.text) })
      }),
    CorridorPath(
      description: "save through a mapper, cleared before", origin: .sync,
      run: now { store in
        _ = try store.repository(of: Cargo.self, mappedBy: FreightMapper()).save(
          changed.map { Freight(id: $0.id + count / 2, text: $0.text) },
          clearBeforeSaving: Cargo.all, as: .sync)
      }),
    CorridorPath(
      description: "update by a repository", origin: .sync,
      run: now { store in
        let cargo = store.repository(of: Cargo.self)
        for id in 0..<count { try cargo.update(id, as: .sync) { $0.text = "new \(long)" } }
      }),
    CorridorPath(
      description: "update through a mapper",
      run: now { store in
        let freight = store.repository(of: Cargo.self, mappedBy: FreightMapper())
        for id in 0..<count { try freight.update(id) { $0.text = "new \(long)" } }
      }),
    CorridorPath(
      description: "update of a plain type", without: [.ageing: untyped],
      run: now { store in
        let cargo = store.repository(of: PlainCargo.self, collection: "Cargo")
        for id in 0..<count { try cargo.update(id) { $0.text = "new \(long)" } }
      }),
    CorridorPath(
      description: "update of what a query selects",
      run: now { store in
        try store.repository(of: Cargo.self).update(Cargo.where { $0.place == 0 }) {
          $0.text = "new \(long)"
        }
      }),
    CorridorPath(
      description: "update of what a query selects, through a mapper", origin: .sync,
      run: now { store in
        let freight = store.repository(of: Cargo.self, mappedBy: FreightMapper())
        try freight.update(Cargo.all, as: .sync) { $0.text = "new \(long)" }
      }),
    CorridorPath(
      description: "update of what a query selects, of a plain type", without: [.ageing: untyped],
      run: now { store in
        let cargo = store.repository(of: PlainCargo.self, collection: "Cargo")
        try cargo.update(CodableDocument<PlainCargo>.all) { $0.text = "new \(long)" }
      }),
    CorridorPath(
      description: "updates of tasks that share a transaction",
      run: { store in
        let freight = store.repository(of: Cargo.self, mappedBy: FreightMapper())
        try await withThrowingTaskGroup(of: Void.self) { group in
          for id in 0..<count {
            group.addTask { try await freight.update(id) { $0.text = "new \(long)" } }
          }
          try await group.waitForAll()
        }
      }),
    CorridorPath(
      description: "save of a plain type", without: [.ageing: untyped],
      run: now { store in
        _ = try store.repository(of: PlainCargo.self, collection: "Cargo").save(
          changed.map { PlainCargo(id: $0.id, place: 3, text: $0.text, since: $0.since) })
      }),
    CorridorPath(
      description: "save without a type", without: [.ageing: untyped],
      run: now { _ = try $0.collection("Cargo").save(dynamic) }),
    // `LarderImport` is above this target: the calls that it makes in the end.
    CorridorPath(
      description: "import", origin: .imported, without: [.ageing: untyped],
      run: now { try importing($0, nil) }),
    CorridorPath(
      description: "import of a type", origin: .imported, run: now { try importing($0, Cargo.self) }
    ),
    CorridorPath(
      description: "import, cleared before", origin: .imported, run: now { try importingAnew($0) }),
    CorridorPath(
      description: "save without a type, in a write", without: [.ageing: untyped],
      run: now { store in
        try store.write { tx in
          _ = try tx.save(dynamic, in: store.collection("Cargo"), keyField: "id")
        }
      }),
    CorridorPath(
      description: "delete by key", isDeleting: true, without: [.ageing: deleting],
      run: now { _ = try $0.repository(of: Cargo.self).delete(keys: Array(0..<count)) }),
    CorridorPath(
      description: "delete by model", isDeleting: true, without: [.ageing: deleting],
      run: now { _ = try $0.repository(of: Cargo.self).delete(changed) }),
    CorridorPath(
      description: "delete one by one, by model", isDeleting: true, without: [.ageing: deleting],
      run: now { store in
        try store.write { tx in
          for document in changed { try tx.delete(document) }
        }
      }),
    CorridorPath(
      description: "delete by key of a plain type", isDeleting: true,
      without: [.ageing: untyped],
      run: now {
        _ = try $0.repository(of: PlainCargo.self, collection: "Cargo").delete(
          keys: Array(0..<count))
      }),
    CorridorPath(
      description: "delete by key without a type", isDeleting: true,
      without: [.ageing: untyped],
      run: now {
        _ = try $0.collection("Cargo").delete(keys: (0..<count).map { .integer(Int64($0)) })
      }),
    CorridorPath(
      description: "delete by query", isDeleting: true, without: [.ageing: deleting],
      run: now { _ = try $0.repository(of: Cargo.self).delete(Cargo.where { $0.place == 0 }) }),
    CorridorPath(
      description: "erase", isDeleting: true,
      without: [.ageing: deleting, .growth: "it gives pages back and needs hardly one"],
      run: now { _ = try $0.repository(of: Cargo.self).eraseAllData() }),
    CorridorPath(
      description: "evict", origin: .expiry, isDeleting: true,
      prepare: { store in
        _ = try store.repository(of: KeptCargo.self).save(
          (0..<count).map { KeptCargo(Cargo(id: $0, text: long, since: .distantPast)) })
      },
      run: now { _ = try $0.evict(Cargo.self) }),
    CorridorPath(
      description: "migrate", without: [.ageing: untyped],
      run: now { store in
        _ = try store.collection("Cargo").migrate(to: 2) { $0["text"] = .string(long + long) }
      }),
    CorridorPath(
      description: "migrate the whole store", without: [.ageing: untyped],
      run: now { store in
        _ = try store.migrate(to: 2) { try $0.rename(store.collection("Cargo"), to: "Load") }
      }),
    CorridorPath(
      description: "build an index", without: noDocuments,
      run: now { store in
        try store.collection("Cargo").createIndex(on: "text")
        try store.collection("Cargo").buildIndexes()
      }),
    CorridorPath(
      description: "create an index",
      without: noDocuments.merging([.growth: "a small collection's needs hardly a page"]) { $1 },
      prepare: { store in
        _ = try store.collection("Small").save(
          (0..<100).map { ["id": .integer($0), "text": .string(long)] }, keyField: "id")
      },
      run: now { try $0.collection("Small").createIndex(on: "text") }),
    CorridorPath(
      description: "declare a type",
      without: noDocuments.merging([.growth: "it writes some records and makes databases"]) { $1 },
      run: now { try $0.declare(NewCargo.self) }),
    CorridorPath(
      description: "drop an index", isDeleting: true,
      without: noDocuments.merging([.growth: "it gives pages back and needs hardly one"]) { $1 },
      prepare: { store in
        try store.collection("Cargo").createIndex(on: "text")
        try store.collection("Cargo").buildIndexes()
      },
      run: now { store in
        _ = try store.collection("Cargo").dropIndex("text")
        try store.engine.writer.run { while try store.engine.workOnIndex() {} }
      }),
    CorridorPath(
      description: "switch the log off",
      without: noDocuments.merging([.growth: "it writes one record"]) { $1 },
      run: now { try $0.collection("Cargo").setChangeLog(false) }),
    CorridorPath(
      description: "collect letters",
      run: now { store in
        let mailbox = Mailbox(at: store.folder.appending(path: "../mailbox"))
        for start in stride(from: 0, to: count, by: 500) {
          try mailbox.post(Array(changed[start..<start + 500]))
        }
        let report = try store.collect(Cargo.self, from: mailbox)
        #expect(report.unreadable.isEmpty && report.foreign.isEmpty)
      }),
    CorridorPath(
      description: "salvage", without: [.ageing: untyped],
      prepare: { store in
        let other = try Store(at: store.folder.appending(path: "../other"))
        let documents = documents.map {
          KeptCargo(Cargo(id: $0.id + 10_000, text: $0.cargo.text + long))
        }
        _ = try other.repository(of: KeptCargo.self).save(documents)
        try other.close()
      },
      run: now { _ = try $0.salvage(from: $0.folder.appending(path: "../other")) }),
    CorridorPath(
      description: "restore",
      without: Dictionary(
        uniqueKeysWithValues: CorridorFact.allCases.map {
          ($0, "it puts a file in the place of one that nobody has open; see BackupTests")
        }),
      run: { _ in }),
  ]
}
