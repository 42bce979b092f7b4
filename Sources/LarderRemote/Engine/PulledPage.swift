internal import Larder
internal import LarderImport

/// The changes of one page, in the transaction that saves them.
struct PulledPage {
  private let tables: SyncTables
  /// Of the scope from which the next change comes.
  var note: ScopeNote
  /// Documents that were set aside, as they cannot be read here.
  private(set) var refusedCount = 0
  private var places: [String: SyncTables.Place] = [:]
  private var saves: [String: [DynamicDocument]] = [:]
  private var deletions: [String: [Value]] = [:]

  init(_ tables: SyncTables, _ note: ScopeNote) {
    self.tables = tables
    self.note = note
  }

  private var scope: UInt16 { tables.number(of: note.scope) }

  mutating func add(_ change: RemoteChange, _ tx: inout WriteScope) throws {
    let name = change.key.collection
    let isNew = places[name] == nil && tx.outline(of: name) == nil
    guard let place = try place(name, change, &tx) else { return }
    let key: [UInt8]
    do throws(UnreadableChange) {
      key = try tables.key(named: change.key, place.outline)
    } catch {
      // Of what cannot be here there is nothing to forget.
      guard case .document = change.content else { return }
      // A collection is not made for the sake of a document that is not saved.
      if isNew { throw error }
      return try refuse(change, error, &tx)
    }
    let entry = try tx.outboxEntry(name, key)
    let base = SyncBase(try tx.base(name, key))
    var new = SyncBase(scope: scope, loading: note.loading, revision: change.revision)
    if let base, base.revision == change.revision, entry?.newer == nil, change.content != .left {
      // Read a second time.
      if base != new { try tx.setSyncBase(name, key, to: new) }
      if var entry, let edited = SyncBase(entry.base), edited.revision == new.revision,
        edited.scope != new.scope
      {
        // Its edit goes where the document is.
        let isUnseen = entry.isUnseen
        entry.base = new.bytes
        entry.isUnseen = isUnseen
        try tx.setOutboxEntry(name, key, to: entry)
      }
      return
    }
    switch change.content {
    case .left:
      guard var entry else {
        // It may have come with another scope already, or come with one that is read later.
        guard let base, base.scope == scope else { return }
        if tables.scopes.count == 1 { return try forget(key, place, &tx) }
        return try tables.noteLeft(base, name, key, &tx)
      }
      // Settled with the edit later, it would bring the document back.
      if entry.leaveNewer(of: scope) { try tx.setOutboxEntry(name, key, to: entry) }
      if let base {
        if base.scope == scope { try tables.noteLeft(base, name, key, &tx) }
      } else if entry.flight != nil, entry.newer == nil {
        // It was made by the edit under way, or had come with this scope beside it. No version of it is known.
        new.revision = SyncTables.noRevision
        try tables.noteLeft(new, name, key, &tx)
      }
    case .document(let document):
      let read: DynamicDocument
      do throws(UnreadableChange) {
        read = try place.document(document, change.key, key)
      } catch {
        return try refuse(change, error, &tx)
      }
      try add(Incoming(base: new, document: read), key, place, entry, &tx)
    case .deleted:
      try add(Incoming(base: new, document: nil), key, place, entry, &tx)
    }
  }

  /// Sets a document aside that is none of the collection: it keeps nobody from being saved in the same transaction,
  /// and all documents of a remote may be so.
  private mutating func refuse(
    _ change: RemoteChange, _ error: UnreadableChange, _ tx: inout WriteScope
  ) throws {
    refusedCount += 1
    try tables.refuse(change, note, error, &tx)
  }

  /// Writes what was gathered.
  mutating func save(_ tx: inout WriteScope) throws {
    for place in places.values.sorted(by: { $0.collection.name < $1.collection.name }) {
      try save(place, &tx)
    }
  }

  private mutating func save(_ place: SyncTables.Place, _ tx: inout WriteScope) throws {
    let name = place.collection.name
    // First what makes unique values free.
    if let keys = deletions.removeValue(forKey: name) {
      try tx.delete(keys: keys, in: place.collection)
    }
    if let documents = saves.removeValue(forKey: name) {
      try tx.save(documents, in: place.collection, keyField: place.keyField)
      if let type = place.synced.type { tx.noteAgeing(type) }
    }
  }

  private mutating func add(
    _ incoming: Incoming, _ key: [UInt8], _ place: SyncTables.Place, _ entry: OutboxEntry?,
    _ tx: inout WriteScope
  ) throws {
    let name = place.collection.name
    guard var entry else {
      if let document = incoming.document {
        saves[name, default: []].append(document)
        try tx.setSyncBase(name, key, to: incoming.base)
      } else {
        try forget(key, place, &tx)
      }
      return
    }
    // Whoever sends an edit knows the rules by which it is merged. One beside which a version waits already is settled
    // with this one in its place.
    if entry.flight != nil || entry.newer != nil || entry.isConflict
      || place.synced.direction == .down
    {
      let base = SyncBase(try tx.base(name, key))
      if base?.hasLeft ?? true {
        // It has come with another scope, or come back, or for the first time.
        let isWaiting = entry.flight == nil && incoming.document != nil
        try tx.setSyncBase(name, key, to: isWaiting ? incoming.base : nil)
        try tx.setMark(name, key, to: nil)
      }
      // It is settled when the edit is answered or about to be sent, or when somebody settles the conflict.
      if let document = incoming.document {
        try tx.makeKnown([document], in: place.collection, keyField: place.keyField)
      }
      // One that was set aside meets another version now, and may be taken.
      if entry.flight == nil, !entry.isConflict { entry.hold = nil }
      entry.newer = OutboxEntry.Version(
        base: incoming.base.bytes,
        record: try incoming.document.map { try tx.record(of: $0, in: place.collection) })
      return try tx.setOutboxEntry(name, key, to: entry)
    }
    // A resolver may keep a copy under the key of a document that came before.
    if place.synced.resolver != nil { try save(place, &tx) }
    var reconciling = Reconciling(place: place, key: key, entry: entry, isEarly: true)
    try reconciling.settle(incoming, &tx)
  }

  private mutating func forget(
    _ key: [UInt8], _ place: SyncTables.Place, _ tx: inout WriteScope
  ) throws {
    if let value = place.outline.value(key) {
      deletions[place.collection.name, default: []].append(value)
    }
    if try tx.base(place.collection.name, key) != nil {
      try tx.setSyncBase(place.collection.name, key, to: nil)
    }
  }

  /// The place of a collection, which is made where it is new.
  private mutating func place(
    _ name: String, _ change: RemoteChange, _ tx: inout WriteScope
  ) throws -> SyncTables.Place? {
    if let place = places[name] { return place }
    if let outline = tx.outline(of: name) {
      if let synced = tables.collections[name] { try tables.begin(synced, outline, &tx) }
      let place = try tables.place(name, tx.outline(of: name) ?? outline)
      places[name] = place
      return place
    }
    // Nothing is known of it before there is a document.
    guard case .document(let document) = change.content,
      let synced = tables.collections[name], let keyField = synced.keyField
    else {
      if case .document = change.content { throw SyncError.noKeyField(collection: name) }
      return nil
    }
    let exchange = DocumentExchange(
      collection: name, keyField: keyField, keyKind: nil, place: nil)
    let read: DynamicDocument
    do {
      read = try exchange.document(document.json, key: change.key.key)
    } catch {
      throw UnreadableChange(description: "\(error)")
    }
    let upgraded = try synced.upgraded(read, change.key)
    try tx.makeKnown([upgraded], in: tables.store.collection(name), keyField: keyField)
    return try place(name, change, &tx)
  }
}
