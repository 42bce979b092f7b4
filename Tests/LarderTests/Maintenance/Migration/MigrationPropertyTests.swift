import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Random documents, random steps, random interruptions: always what migrating in memory gives.
@Suite struct MigrationPropertyTests {
  private typealias Change = @Sendable (inout MigratingDocument) -> Void

  @Test("migrating in batches that fail anywhere is the same as migrating once, in memory")
  func sameAsInMemory() throws {
    var random = RandomSource()
    var (interruptions, deletions, moves) = (0, 0, 0)
    func hasMetAll() -> Bool { interruptions > 50 && deletions > 50 && moves > 50 }
    for round in rounds(60, until: hasMetAll) {
      let hint = "\(random.hint), round \(round)"
      try withTemporaryStore { store in
        let collection = store.collection("Thing")
        var model: [Int64: DynamicDocument] = [:]
        for _ in 0..<random.int(1..<80) {
          let key = Int64(random.int(-50..<200))
          model[key] = document(key, &random)
        }
        try collection.save(Array(model.values), keyField: "id")

        for version in 2..<random.int(3..<6) {
          let change = self.change(version, seed: random.next())
          let expected = migrated(model, change)
          deletions += model.count - expected.count
          moves += expected.keys.count { model[$0] == nil }
          while true {
            let failing = random.once(in: 4) ? Int.max : random.int(0..<60)
            let batchCount = random.int(1..<20)
            var calls = 0
            do {
              try collection.migrate(to: version, batchCount: batchCount) { document in
                calls += 1
                if calls > failing { throw Unexpected() }
                change(&document)
              }
              break
            } catch is MigrationError {
              interruptions += 1
              #expect(try store.check().isSound, "\(hint)")
            }
          }
          model = expected
          let stored = try collection.documents()
          let keys = model.keys.sorted()
          #expect(stored == keys.map { model[$0] ?? [:] }, "\(hint), version \(version)")
        }
      }
    }
    #expect(hasMetAll(), "\(random.hint)")
  }

  private func document(_ key: Int64, _ random: inout RandomSource) -> DynamicDocument {
    var document: DynamicDocument = ["id": .integer(key), "count": .integer(random.integer())]
    if random.bool() { document["text"] = .string(random.text()) }
    if random.bool() { document["maybe"] = random.bool() ? .null : .data(random.data()) }
    if random.bool() {
      document["inner"] = .document(["a": .integer(random.integer()), "b": .string(random.text())])
    }
    if random.bool() { document["list"] = .array(random.array(0..<4) { .integer($0.integer()) }) }
    return document
  }

  /// A step that changes every document by itself: fields change their kind, come, go and are
  /// renamed; some documents are deleted, and some are moved to keys that nobody has or wants.
  private func change(_ version: Int, seed: UInt64) -> Change {
    { migrating in
      guard case .integer(let key) = migrating.key else { return }
      let dice = RandomSource(seed: seed &+ UInt64(bitPattern: key))
      var own = dice
      if own.once(in: 10) { return migrating.delete() }
      // The same for all documents: a field has one kind.
      var common = RandomSource(seed: seed)
      let (choice, innerIsText, listIsNested) = (common.int(0..<3), common.bool(), common.bool())
      switch choice {
      case 0:
        migrating["count"] = migrating["count"].map { .string("\($0)") }
        migrating["maybe"] = nil
      case 1:
        migrating["count"] = .array([.bool(true)])
        if migrating["maybe"] != nil { migrating["maybe"] = own.bool() ? .null : .bool(true) }
      default:
        migrating["count"] = .date(Date(timeIntervalSinceReferenceDate: 3))
        migrating.rename("text", to: "text\(version)")
      }
      if case .document(var inner)? = migrating["inner"] {
        inner["a"] = innerIsText ? .string("x") : .document(["deep": .integer(1)])
        inner["new\(version)"] = own.bool() ? .double(0.5) : nil
        migrating["inner"] = .document(inner)
      }
      if listIsNested, case .array(let list)? = migrating["list"] {
        migrating["list"] = .array(list.map { .array([$0]) })
      }
      migrating["version"] = .integer(Int64(version))
      if own.once(in: 4) {
        // Beyond every key of the versions before, and a different one for each.
        let distance = Int64(1) << (10 * version) + key
        migrating["id"] = .integer(own.bool() ? distance : -distance)
      }
    }
  }

  /// What the step makes of all documents at once. A move to a key that is taken would be an
  /// error; the documents are chosen so that none is.
  private func migrated(
    _ model: [Int64: DynamicDocument], _ change: Change
  ) -> [Int64: DynamicDocument] {
    var result: [Int64: DynamicDocument] = [:]
    for (key, document) in model {
      var migrating = MigratingDocument(key: .integer(key), document)
      change(&migrating)
      guard !migrating.isDeleted, case .integer(let key)? = migrating["id"] else { continue }
      result[key] = migrating.document
    }
    return result
  }
}
