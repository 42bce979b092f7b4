internal import Larder
internal import LarderImport
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Pages that come down.

extension SyncTables {
  /// Saves a page, and how far the scope was read with it, in one transaction. Documents that cannot be
  /// saved are set aside, so that they keep nobody from the others.
  ///
  /// - Returns: How many documents have changed here.
  @discardableResult
  func apply(_ answer: PullAnswer, _ note: ScopeNote, isLast: Bool) throws -> Int {
    var changes: [RemoteChange] = []
    var places: [RemoteKey: Int] = [:]
    for change in answer.changes where collections[change.key.collection] != nil {
      try check(change)
      // Of a remote that tells of one document twice, the last word holds.
      if let place = places[change.key] {
        changes[place] = change
      } else {
        places[change.key] = changes.count
        changes.append(change)
      }
    }
    try forgetRefused(changes, note)
    var next = note
    next.cursor = answer.cursor
    next.replaced = nil
    if isLast { next.isLoading = false }
    return try applyPieces(changes[...], note, next)
  }

  private func check(_ change: RemoteChange) throws {
    guard (1...SyncBase.mostRevisionByteCount).contains(change.revision.utf8.count) else {
      throw RemoteError.malformed(
        "the revision of \(change.key) has \(change.revision.utf8.count) bytes, and not 1 to "
          + "\(SyncBase.mostRevisionByteCount)")
    }
  }

  /// - Parameter next: What is noted with the last piece.
  private func applyPieces(
    _ changes: ArraySlice<RemoteChange>, _ note: ScopeNote, _ next: ScopeNote?
  ) throws -> Int {
    do {
      return try write(at: note) { tx in
        var page = PulledPage(self, note)
        for change in changes { try page.add(change, &tx) }
        try page.save(&tx)
        if let next, next != ScopeNote(noted: try tx.syncNote(ScopeNote.name(page.scope))) {
          try tx.setSyncNote(ScopeNote.name(page.scope), to: try next.noted())
        }
        return page.count
      }
    } catch let error where Self.isRefusal(error) {
      guard changes.count > 1 else {
        if let change = changes.first { try refuse(change, note, error) }
        return try next.map { try applyPieces([], note, $0) } ?? 0
      }
      let middle = changes.startIndex + changes.count / 2
      return try applyPieces(changes[..<middle], note, nil)
        + applyPieces(changes[middle...], note, next)
    }
  }

  /// Whether it is a document that is at fault, and not the store.
  static func isRefusal(_ error: any Error) -> Bool {
    error is UnreadableChange || (error as? StoreError)?.isOfDocument == true
  }

  /// What was refused before is of no interest where another version comes.
  private func forgetRefused(_ changes: [RemoteChange], _ note: ScopeNote) throws {
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

  /// Whether a page has documents of collections that are not followed.
  func hasOthers(_ answer: PullAnswer) -> Bool {
    answer.changes.contains { collections[$0.key.collection] == nil }
  }

  private func refuse(
    _ change: RemoteChange, _ note: ScopeNote, _ error: any Error
  ) throws {
    let (scope, name) = (number(of: note.scope), change.key.collection)
    refusalCount.withLock { $0 += 1 }
    try write(at: note) { tx in
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
  }

  /// Sets a document aside that cannot be saved here.
  func noteRefused(
    _ change: RemoteChange, _ scope: UInt16, _ error: any Error, _ tx: inout WriteScope
  ) throws {
    let json: RemoteDocument? =
      if case .document(let document) = change.content { document } else { nil }
    let refused = RefusedNote(
      scope: scope, collection: change.key.collection, key: change.key.key,
      revision: change.revision, json: json?.json ?? Data(), reason: "\(error)")
    try tx.setSyncNote(RefusedNote.name(change.key), to: try refused.noted())
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

  /// Tries once more to save what could not be saved: another version of the app may know more fields, and a value
  /// may have become free. All of it in one transaction; where that fails, some of it one by one.
  ///
  /// - Parameters:
  ///   - last: The name of the note behind which to begin; afterwards, behind which to go on another time. Nil for the
  ///     beginning.
  ///   - most: How many are tried one by one at most. Where there are many more, only so many are looked at.
  ///   - isWhole: Whether all are tried together, however many there are.
  func retryRefused(after last: inout String?, most: Int, isWhole: Bool) throws {
    let (start, together) = (last, isWhole ? .max : max(most, Self.mostTogether))
    let (notes, isPart, outlines) = try store.read { snapshot in
      var outlines: [String: CollectionOutline] = [:]
      for name in collections.keys { outlines[name] = snapshot.outline(of: name) }
      let prefix = RefusedNote.prefix
      let limit = together < .max ? together + 1 : .max
      let all = try snapshot.syncNotes(withPrefix: prefix, limit: limit)
      if all.count < limit { return (all, false, outlines) }
      let part = try snapshot.syncNotes(withPrefix: prefix, after: start, limit: most)
      return (part, true, outlines)
    }
    last = nil
    if isPart, notes.count == most { last = notes.last?.name }
    var refused: [Refused] = []
    var scopes: [String: ScopeNote] = [:]
    for (name, bytes) in notes {
      guard let note = RefusedNote(noted: bytes), collections[note.collection] != nil,
        let followed = scope(numbered: note.scope), !note.json.isEmpty
      else { continue }
      let change = RemoteChange(
        RemoteKey(note.collection, note.key), revision: note.revision,
        .document(RemoteDocument(json: note.json)))
      // A remote may spell all its keys otherwise, and a transaction for each of them would come to nothing.
      if let outline = outlines[note.collection], (try? key(named: change.key, outline)) == nil {
        continue
      }
      if scopes[followed] == nil { scopes[followed] = try self.note(of: followed) }
      // It comes again with the pages of a scope that is about to be loaded from its beginning, if it is still there.
      // Saved now, it would count as seen by that loading.
      if scopes[followed]?.cursor == nil { continue }
      refused.append(Refused(name: name, bytes: bytes, scope: followed, change: change))
    }
    if refused.isEmpty { return }
    if refused.count > 1, try save(refused, scopes) == nil { return }
    var clashing: [Refused] = []
    var failed: [(Refused, any Error)] = []
    let first = isPart ? nil : refused.firstIndex { $0.name > start ?? "" }
    let visited = refused[(first ?? 0)...].prefix(most)
    for one in visited {
      if let error = try save([one], scopes) {
        if case .uniqueViolation? = error as? StoreError { clashing.append(one) }
        failed.append((one, error))
      }
    }
    if !isPart, visited.endIndex < refused.count { last = visited.last?.name }
    try saveTogether(clashing, scopes)
    for (one, error) in failed { try renew(one, error) }
  }

  /// Up to so many refused documents are tried in one transaction before they are tried one by one: they may have values
  /// of each other.
  private static let mostTogether = 256

  /// Notes why it could still not be saved, where that is another reason than before.
  private func renew(_ refused: Refused, _ error: any Error) throws {
    guard let note = RefusedNote(noted: refused.bytes), note.reason != "\(error)" else { return }
    try write { tx in
      guard try tx.syncNote(refused.name) == refused.bytes else { return }
      try noteRefused(refused.change, note.scope, error, &tx)
    }
  }

  /// Saves documents that have values of each other, such as two that were swapped, without those that have one of a
  /// document that keeps it.
  private func saveTogether(_ refused: [Refused], _ scopes: [String: ScopeNote]) throws {
    var rest = refused
    for _ in 0..<8 where rest.count > 1 {
      guard
        case .uniqueViolation(let name, _, _, let key, let other)? =
          try save(rest, scopes) as? StoreError
      else { return }
      let keys = [key, other].map { RemoteKey(name, $0) }
      guard let place = rest.firstIndex(where: { keys.contains($0.change.key) }) else { return }
      rest.remove(at: place)
    }
  }

  /// A document that could not be saved, as it is noted.
  private struct Refused {
    let name: String
    let bytes: [UInt8]
    let scope: String
    let change: RemoteChange
  }

  /// Saves them in one transaction.
  ///
  /// - Returns: Why one of them cannot be saved, and so none is; nil where all are.
  private func save(
    _ refused: [Refused], _ scopes: [String: ScopeNote]
  ) throws -> (any Error)? {
    do {
      try write { tx in
        var pages: [String: PulledPage] = [:]
        for one in refused {
          // Another engine may have saved it since, or a later version.
          guard try tx.syncNote(one.name) == one.bytes else { continue }
          // Before it is added: the page notes it again where it cannot be read by now.
          try tx.setSyncNote(one.name, to: nil)
          if pages[one.scope] == nil, let note = scopes[one.scope] {
            pages[one.scope] = PulledPage(self, note)
          }
          try pages[one.scope]?.add(one.change, &tx)
        }
        for scope in pages.keys.sorted() { try pages[scope]?.save(&tx) }
      }
      return nil
    } catch let error where Self.isRefusal(error) {
      return error
    }
  }
}

/// A document of the remote that is none of the collection.
struct UnreadableChange: Error, CustomStringConvertible {
  let description: String
}

extension SyncTables {
  /// The key that a document of the remote has here.
  ///
  /// - Throws: `UnreadableChange` for a name that no document here can have, or that is spelt otherwise than it is
  ///   sent from here: to the remote that would be another document.
  func key(
    named name: RemoteKey, _ outline: CollectionOutline
  ) throws(UnreadableChange) -> [UInt8] {
    // Where nothing is sent, any spelling will do.
    let isSent = collections[name.collection]?.direction != .down
    return try outline.key(named: name, isSent: isSent)
  }
}

extension CollectionOutline {
  fileprivate func key(
    named name: RemoteKey, isSent: Bool
  ) throws(UnreadableChange) -> [UInt8] {
    guard let key = key(name.key) else {
      throw UnreadableChange(
        description: "\(name) has no key of \(name.collection), whose keys are \(keyKind)")
    }
    guard (1...KeyKind.maximumByteCount).contains(key.count) else {
      throw UnreadableChange(
        description: "a key of \(name.collection) has \(key.count) bytes, and not 1 to "
          + "\(KeyKind.maximumByteCount)")
    }
    let text = text(key)
    guard !isSent || text.utf8.elementsEqual(name.key.utf8) else {
      throw UnreadableChange(
        description: "\(name) would be sent as `\(text)`, which is another document there: "
          + "keys are texts in Unicode's normalisation form C, numbers without a plus sign and "
          + "without zeros in front, and UUIDs in small letters")
    }
    return key
  }
}

/// The changes of one page, in the transaction that saves them.
struct PulledPage {
  private let tables: SyncTables
  private let note: ScopeNote
  let scope: UInt16
  /// Changed documents.
  private(set) var count = 0
  private var places: [String: SyncTables.Place] = [:]
  private var saves: [String: [DynamicDocument]] = [:]
  private var deletions: [String: [Value]] = [:]

  init(_ tables: SyncTables, _ note: ScopeNote) {
    self.tables = tables
    self.note = note
    scope = tables.number(of: note.scope)
  }

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
      // It keeps nobody from being saved in the same transaction, and all keys of a remote may be spelt otherwise.
      return try tables.noteRefused(change, scope, error, &tx)
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
      let document = try place.document(document, change.key, key)
      try add(Incoming(base: new, document: document), key, place, entry, &tx)
    case .deleted:
      new.revision = change.revision
      try add(Incoming(base: new, document: nil), key, place, entry, &tx)
    }
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
      count += try tx.delete(keys: keys, in: place.collection)
    }
    if let documents = saves.removeValue(forKey: name) {
      count += try tx.save(documents, in: place.collection, keyField: place.keyField).changed
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
    count += 1
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
