import Foundation
import Larder

/// Writes one of the stores into a folder that does not exist yet.
@main enum Writer {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { throw Failure(text: "usage: Writer NAME FOLDER") }
    var options = StoreOptions()
    // The past is not what these stores are for, and would take most of their bytes.
    options.changeLog.maximumByteCount = 0
    let store = try Store(at: arguments[2], options: options)
    switch arguments[1] {
    case "first": try first(store)
    case "half-migrated": try halfMigrated(store)
    default: throw Failure(text: "there is no fixture named \(arguments[1])")
    }
    guard try store.check().isSound else { throw Failure(text: "the store is not sound") }
    try store.close()
  }

  struct Failure: Error { let text: String }

  /// Before there were migrations and indexes: 20 sellers, saved in two transactions, and a
  /// collection for each kind of key.
  static func first(_ store: Store) throws {
    let sellers = store.repository(of: Seller.self)
    try sellers.save((0..<20).filter { $0 % 2 == 1 }.map(Seller.init))
    try sellers.save((0..<20).filter { $0 % 2 == 0 }.map(Seller.init))
    try store.repository(of: Keyed<Int>.self).save(
      [-1, 0, .max].map { Keyed(key: $0, text: "\($0)") })
    try store.repository(of: Keyed<UInt64>.self).save(
      [0, .max].map { Keyed(key: $0, text: "\($0)") })
    let ids = ["00000000-0000-0000-0000-000000000001", "FFFFFFFF-0000-0000-0000-000000000002"]
    try store.repository(of: Keyed<UUID>.self).save(
      ids.compactMap(UUID.init(uuidString:)).map { Keyed(key: $0, text: $0.uuidString) })
    // Without a type, as an import does.
    try store.collection("imported").save(
      [
        ["id": "a", "order": "7", "geo": .document(["lat": 1, "lon": 2])],
        ["id": "b", "order": "x"],
      ],
      keyField: "id")
  }

  /// A migration that ended behind its first batch: of 1,003 documents, 1,000 are of version 2,
  /// whose `n` is an integer, and three of version 1, where it is text.
  static func halfMigrated(_ store: Store) throws {
    let counts = store.collection("Count")
    try counts.save(
      (0..<1003).map { ["id": .integer($0), "n": .string("\($0 % 10)")] }, keyField: "id")
    do {
      try counts.migrate(to: 2) { count in
        guard case .string(let text)? = count["n"], count.key != 1001 else {
          throw Failure(text: "here it ends")
        }
        count["n"] = .integer(Int64(text) ?? -1)
      }
    } catch is MigrationError {}
    try store.migrate(to: 2) { tx in
      try tx.save(
        [["id": "a", "note": "of version 2"]], in: store.collection("note"), keyField: "id")
    }
  }
}
