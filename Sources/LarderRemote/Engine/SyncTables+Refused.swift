internal import Larder
internal import LarderImport
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Documents of the remote that cannot be saved here.

extension SyncTables {
  /// What was refused before is of no interest where another version comes.
  func forgetRefused(_ changes: [RemoteChange], _ note: ScopeNote) throws {
    // One that has left this scope may have been refused in another one, which was read before.
    var (names, left): (Set<String>, Set<String>) = ([], [])
    for change in changes {
      let name = RefusedNote.name(change.key)
      if change.content == .left { left.insert(name) } else { names.insert(name) }
    }
    let scope = number(of: note.scope)
    let notes = try store.read { snapshot in
      guard try !snapshot.syncNotes(withPrefix: RefusedNote.prefix, limit: 1).isEmpty else {
        return [] as [(name: String, bytes: [UInt8])]
      }
      if note.cursor == nil { return try snapshot.syncNotes(withPrefix: RefusedNote.prefix) }
      return try names.union(left).compactMap { name in
        try snapshot.syncNote(name).map { (name, $0) }
      }
    }
    let old = notes.filter { name, bytes in
      guard let refused = RefusedNote(noted: bytes) else { return true }
      // Whatever is still there comes again when a scope is loaded from its beginning.
      return names.contains(name)
        || refused.scope == scope && (note.cursor == nil || left.contains(name))
    }
    if old.isEmpty { return }
    try write(at: note) { tx in
      for (name, _) in old { try tx.setSyncNote(name, to: nil) }
    }
  }

  /// Sets a document of a page aside that cannot be saved here.
  func refuse(
    _ change: RemoteChange, _ note: ScopeNote, _ error: any Error, _ tx: inout WriteScope
  ) throws {
    let (scope, name) = (number(of: note.scope), change.key.collection)
    try noteRefused(change, scope, error, &tx)
    // What stands here is an earlier version of it, and nothing that the remote no longer has.
    guard case .document = change.content, let outline = tx.outline(of: name),
      let key = try? self.key(named: change.key, outline),
      var base = SyncBase(try tx.base(name, key)), base.scope == scope,
      base.loading != note.loading
    else { return }
    base.loading = note.loading
    try tx.setSyncBase(name, key, to: base)
  }

  /// Notes a document that cannot be saved here.
  func noteRefused(
    _ change: RemoteChange, _ scope: UInt16, _ error: any Error, _ tx: inout WriteScope
  ) throws {
    let json: RemoteDocument? =
      if case .document(let document) = change.content { document } else { nil }
    let refused = RefusedNote(
      scope: scope, collection: change.key.collection, key: change.key.key,
      revision: change.revision, json: json?.json ?? Data(), reason: "\(error)")
    let name = RefusedNote.name(change.key)
    // Tried again and again, most of them fail as before, and nothing is to be written then.
    if refused == RefusedNote(noted: try tx.syncNote(name)) { return }
    try tx.setSyncNote(name, to: try refused.noted())
  }

  /// The same for a version that is kept as a record, in the form in which the remote has it.
  ///
  /// - Returns: False where there is none, or it cannot be read.
  func noteRefused(
    _ record: [UInt8]?, _ base: SyncBase, _ name: RemoteKey, _ key: [UInt8], _ place: Place,
    _ error: any Error, _ tx: inout WriteScope
  ) throws -> Bool {
    guard let record,
      let document = try? tx.document(place.collection.name, key, record: record)
    else { return false }
    let there = RemoteDocument(json: place.exchange.json(document))
    let change = RemoteChange(name, revision: base.revision, .document(there))
    try noteRefused(change, base.scope, error, &tx)
    return true
  }
}
