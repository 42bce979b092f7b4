import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

extension Store {
  /// The record of a document, as it is in the file.
  func recordBytes(of key: some DocumentKey, in collection: String) throws -> [UInt8]? {
    try read { snapshot in
      guard let collection = snapshot.catalogue[collection] else { return nil }
      return try key.withEncodedKey { key in
        try snapshot.transaction.withValue(for: key, in: collection.documents) { [UInt8]($0) }
      }
    }
  }

  /// The encoded keys of a collection, in the order of the file.
  func keys(in collection: String) throws -> [[UInt8]] {
    try read { snapshot in
      guard let collection = snapshot.catalogue[collection] else { return [] }
      var keys: [[UInt8]] = []
      var cursor = try snapshot.transaction.cursor(in: collection.documents)
      while try cursor.next() { keys.append([UInt8](cursor.key)) }
      return keys
    }
  }

  /// Puts bytes under a key past every check, as damage would.
  func forceRecord(_ bytes: [UInt8], under key: some DocumentKey, in collection: String) throws {
    try write { tx in
      guard let collection = tx.catalogue[collection] else { return }
      try key.withEncodedKey { key in
        try bytes.withUnsafeBytes { try tx.transaction.put($0, for: key, in: collection.documents) }
      }
      tx.changeCount += 1
    }
  }

  var catalogueVersion: UInt64 { engine.catalogue.version }

  func fieldNames(of collection: String, table: Int = 0) -> [String] {
    engine.catalogue[collection]?.tables[table].fields.map(\.name) ?? []
  }

  func kind(of field: String, in collection: String, table: Int = 0) -> String {
    engine.catalogue[collection]?.tables[table].field(named: field).map { "\($0.kind)" } ?? "none"
  }
}

/// What comes back of a document that is saved in a new store.
func stored<Entity: Document>(_ document: Entity) throws -> Entity {
  try withTemporaryStore { store in
    let documents = store.repository(of: Entity.self)
    try documents.save(document)
    return try #require(try documents.get(document.entityAccessorKey))
  }
}

/// The record of a document in a new store.
func storedBytes<Entity: Document>(_ document: Entity) throws -> [UInt8] {
  try withTemporaryStore { store in
    try store.repository(of: Entity.self).save(document)
    return try #require(
      try store.recordBytes(of: document.entityAccessorKey, in: Entity.schema.name))
  }
}
