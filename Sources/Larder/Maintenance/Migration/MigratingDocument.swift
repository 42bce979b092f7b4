#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A document on its way from one version to the next, lent to the closure of a migration.
///
/// ```swift
/// try await store.migrate(Contact.self, to: 2) { contact in
///   if case .string(let text) = contact["order"] { contact["order"] = .integer(Int64(text) ?? 0) }
///   if contact["name"] == "" { contact.delete() }
/// }
/// ```
/// It holds what is stored, under the names that fields have on disk.
public struct MigratingDocument: Sendable {
  /// The key that it is stored under.
  public let key: Value
  /// Its fields. Where one of them is the entity-accessor key, giving it another value moves the
  /// document to that key.
  public var document: DynamicDocument
  /// Whether it will be deleted.
  public private(set) var isDeleted = false
  /// The document as it is stored, before the closure changes it.
  let stored: DynamicDocument

  init(key: Value, _ document: DynamicDocument) {
    self.key = key
    self.document = document
    stored = document
  }

  /// The value of a field; nil where the document has none. One that is stored as nil is `.null`: ask ``isNil(_:)`` for
  /// both. Setting nil removes the field.
  public subscript(name: String) -> Value? {
    get { document[name] }
    set { document[name] = newValue }
  }

  /// Whether a field has no value: it is stored as nil, or not at all.
  public func isNil(_ name: String) -> Bool { document.isNil(name) }

  /// Gives a field another name on disk; does nothing where the document does not have it.
  public mutating func rename(_ name: String, to newName: String) {
    guard name != newName, let value = document[name] else { return }
    document[name] = nil
    document[newName] = value
  }

  /// Deletes the document.
  public mutating func delete() { isDeleted = true }
}

/// What a call of `migrate` did.
public struct MigrationReport: Sendable, Equatable {
  /// The version that the collection, or the store, stands at now; above the one that was asked
  /// for where a newer version of the app was here.
  public internal(set) var version: Int
  /// Documents that this call changed from one version to the next, the deleted ones too.
  public internal(set) var migrated = 0
  /// Those of them that were deleted.
  public internal(set) var deleted = 0
}

/// The closure of a migration threw. The documents of the batches that were written before are migrated; all others are
/// as they were. The closure may have been asked about this one ahead of its batch: what kind a field gets depends on
/// all documents.
public struct MigrationError: Error, CustomStringConvertible {
  /// The collection that was being migrated.
  public let collection: String
  /// The document's key, as ``StoreError`` writes it.
  public let key: String
  /// The version that was being migrated to.
  public let version: Int
  /// What the closure threw.
  public let underlying: any Error

  public var description: String {
    "\(collection) \(key) cannot be migrated to version \(version): "
      + "\("\(underlying)".withoutFullStop). Batches that were "
      + "written before are kept. Mend the migration, and run it again: it goes on from there."
  }
}

extension MigrationError: LocalizedError {
  public var errorDescription: String? { description }
}
