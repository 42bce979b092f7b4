internal import Larder
internal import LarderImport

// Documents in an earlier form: the remote keeps what it was sent, and so do edits that wait.

extension SyncedCollection {
  /// The document in the form that this version of the app uses.
  ///
  /// - Throws: ``UnreadableChange`` with what the app's closure threw.
  func upgraded(
    _ document: DynamicDocument, _ key: RemoteKey
  ) throws(UnreadableChange) -> DynamicDocument {
    guard let upgrade else { return document }
    var document = document
    do {
      try upgrade(&document)
    } catch {
      throw UnreadableChange(description: "\(key) could not be upgraded: \(error)")
    }
    return document
  }
}

extension SyncTables.Place {
  /// The document that the remote has sent.
  ///
  /// - Throws: ``UnreadableChange`` for one that is none of the collection, or not under this key.
  func document(
    _ sent: RemoteDocument, _ name: RemoteKey, _ key: [UInt8]
  ) throws(UnreadableChange) -> DynamicDocument {
    let read: DynamicDocument
    do {
      read = try exchange.document(sent.json, key: name.key)
    } catch {
      throw UnreadableChange(description: "\(error)")
    }
    let document = try synced.upgraded(read, name)
    guard outline.key(of: document) == key else {
      throw UnreadableChange(description: "\(name) has another key in its field `\(keyField)`")
    }
    // Another type of the collection may do without it, and the catalogue then asks for it no more.
    if let field = synced.requiredFields.first(where: { document[$0] == nil }) {
      throw UnreadableChange(
        description: "\(name) has no field `\(field)`, which \(collection.name) needs here")
    }
    return document
  }

  /// A version of the remote that is kept beside an edit, maybe since an earlier version of the app.
  ///
  /// - Throws: ``UnreadableChange``; `StoreError.damagedRecord(collection:key:reason:)`.
  func document(
    kept record: [UInt8], _ key: [UInt8], _ tx: borrowing WriteScope
  ) throws -> DynamicDocument? {
    guard let kept = try tx.document(collection.name, key, record: record) else { return nil }
    return try synced.upgraded(kept, RemoteKey(collection.name, outline.text(key)))
  }
}
