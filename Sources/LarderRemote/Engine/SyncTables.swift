internal import Larder
internal import LarderImport
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// An engine's part of the store: what it knows of each document beside the document, and the transactions
/// in which it changes both.
struct SyncTables: Sendable {
  let store: Store
  let collections: [String: SyncedCollection]
  /// The scopes that the engine follows, in the order in which it was given them. The store may know more.
  let scopes: [String]
  /// The number by which the store knows each of these scopes.
  private var numbers: [String: UInt16] = [:]
  private var names: [UInt16: String] = [:]
  private let account: [UInt8]
  /// Documents that were refused since the engine was made.
  let refusals = Locked(Refusals())

  struct Refusals: Equatable {
    var count = 0
    /// Those of them that have a unique value of another document.
    var clashCount = 0

    static func += (sum: inout Refusals, more: Refusals) {
      sum.count += more.count
      sum.clashCount += more.clashCount
    }
  }

  /// Which of the accounts that the store has had it is: one that was forgotten and came back is another one.
  private var ownership: [UInt8] = []

  /// A collection as it is in this moment, ready to exchange documents.
  struct Place {
    let collection: DynamicCollection
    let synced: SyncedCollection
    let outline: CollectionOutline
    let exchange: DocumentExchange
    let keyField: String
  }

  func place(_ name: String, _ outline: CollectionOutline) throws -> Place {
    guard let synced = collections[name] else { throw SyncError.unknownCollection(name) }
    guard let keyField = outline.keyField else { throw SyncError.noKeyField(collection: name) }
    return Place(
      collection: store.collection(name), synced: synced, outline: outline,
      exchange: DocumentExchange(
        collection: name, keyField: keyField, keyKind: outline.keyKind, place: outline.place),
      keyField: keyField)
  }

  /// The number of a scope that the engine follows.
  func number(of scope: String) -> UInt16 {
    guard let number = numbers[scope] else { preconditionFailure("\(scope) is not followed") }
    return number
  }

  /// Nil for a scope that the engine does not follow.
  func scope(numbered number: UInt16) -> String? { names[number] }

  // MARK: Beginning

  static let accountName = "account"
  private static let ownershipName = "ownership"

  /// Makes the collections synced, and the store that of an account.
  ///
  /// - Throws: ``SyncError``; `StoreError`; nothing is changed then, but that types may be declared.
  init(
    preparing store: Store, collections: [String: SyncedCollection], scopes: [String],
    account: String
  ) throws {
    self.store = store
    self.collections = collections
    var seen: Set<String> = []
    self.scopes = scopes.filter { seen.insert($0).inserted }
    self.account = [UInt8](account.utf8)
    try store.prepareOutbox()
    for collection in collections.values {
      if let type = collection.type { try store.declare(type) }
    }
    let newLoading = try unusedLoading()
    (numbers, ownership) = try store.write(as: .sync) { [self] tx in
      let pendingCount = try tx.outboxCount()
      let owner = try tx.syncNote(Self.accountName)
      if let owner, owner != self.account {
        guard pendingCount == 0 else { throw SyncError.otherAccount(pendingCount: pendingCount) }
        // Nothing of the other account is to be seen under this one, and its cursors are of no use here.
        try Self.erase(Array(collections.keys), in: store, &tx)
      }
      if owner != self.account { try tx.setSyncNote(Self.accountName, to: self.account) }
      let ownership = try Self.ownership(&tx)
      for (name, collection) in collections {
        guard let outline = tx.outline(of: name) else { continue }
        if outline.keyField == nil { throw SyncError.noKeyField(collection: name) }
        try begin(collection, outline, &tx)
      }
      if try tx.takeSalvaged() {
        for (name, _) in try tx.syncNotes(withPrefix: ScopeNote.prefix) {
          if let number = ScopeNote.number(name) { try restart(number, &tx) }
        }
      }
      return (try Self.number(scopes, loading: newLoading, &tx), ownership)
    }
    names = Dictionary(uniqueKeysWithValues: numbers.map { ($0.value, $0.key) })
    try retryUnanswered()
  }

  /// The number of the account that has the store now; one is drawn where none is noted.
  private static func ownership(_ tx: inout WriteScope) throws -> [UInt8] {
    if let known = try tx.syncNote(ownershipName) { return known }
    let new = withUnsafeBytes(of: UUID.random().uuid) { [UInt8]($0) }
    try tx.setSyncNote(ownershipName, to: new)
    return new
  }

  /// Runs `body` in one transaction, where the store is still that of the engine's account: a sync that was under
  /// way when another account came must neither save what it has pulled nor send what the other one has edited.
  ///
  /// - Throws: ``SyncError/accountChanged``; what `body` throws; nothing is changed then.
  func write<Result>(_ body: (inout WriteScope) throws -> Result) throws -> Result {
    try store.write(as: .sync) { tx in
      guard try isOwner(tx.syncNote(Self.accountName), tx.syncNote(Self.ownershipName)) else {
        throw SyncError.accountChanged
      }
      return try tx.reconciling(body)
    }
  }

  /// Runs `body` in one transaction, where a scope is still read from where `note` says: another engine on the same
  /// store may have gone on with it, or have begun it anew, and must not be set back. A beginning that is not noted yet is
  /// noted with what is saved.
  ///
  /// - Throws: ``Overtaken``; ``SyncError/accountChanged``; what `body` throws; nothing is changed then.
  func write<Result>(
    at note: ScopeNote, _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    try write { tx in
      guard try isCurrent(note, tx) else { throw Overtaken() }
      if note.replaced != nil {
        try tx.setSyncNote(ScopeNote.name(number(of: note.scope)), to: try note.noted())
      }
      return try body(&tx)
    }
  }

  private func isCurrent(_ note: ScopeNote, _ tx: borrowing WriteScope) throws -> Bool {
    let bytes = try tx.syncNote(ScopeNote.name(number(of: note.scope)))
    if let replaced = note.replaced, replaced == bytes { return true }
    let stored = ScopeNote(noted: bytes)
    return stored?.cursor == note.cursor && stored?.loading == note.loading
  }

  /// - Throws: ``SyncError/accountChanged`` where the store has become another account's.
  func checkOwner() throws {
    try store.read { snapshot in
      guard try isOwner(snapshot.syncNote(Self.accountName), snapshot.syncNote(Self.ownershipName))
      else { throw SyncError.accountChanged }
    }
  }

  private func isOwner(_ account: [UInt8]?, _ ownership: [UInt8]?) -> Bool {
    account == self.account && ownership == self.ownership
  }

  /// A loading that no document was seen in: the note of a scope may have been lost with a damaged file, and not what was
  /// noted of its documents.
  private func unusedLoading() throws -> UInt8 {
    try store.read { snapshot in
      let first = SyncBase.loading(after: 0)
      guard try snapshot.isSalvaged() else { return first }
      var used: Set<UInt8> = []
      for name in collections.keys {
        try snapshot.forEachBase(name) { _, base in
          if let base = SyncBase(base) { used.insert(base.loading) }
          return true
        }
      }
      var loading = first
      while used.contains(loading), SyncBase.loading(after: loading) != first {
        loading = SyncBase.loading(after: loading)
      }
      return loading
    }
  }

  /// Numbers the scopes that the store does not know yet. The others keep their numbers until the account is
  /// forgotten, as documents refer to them.
  private static func number(
    _ scopes: [String], loading: UInt8, _ tx: inout WriteScope
  ) throws -> [String: UInt16] {
    var numbers: [String: UInt16] = [:]
    for (name, bytes) in try tx.syncNotes(withPrefix: ScopeNote.prefix) {
      guard let number = ScopeNote.number(name), let note = ScopeNote(noted: bytes) else {
        continue
      }
      numbers[note.scope] = number
    }
    for scope in scopes where numbers[scope] == nil {
      let number = numbers.values.max().map { Int($0) + 1 } ?? 0
      guard let number = UInt16(exactly: number) else { throw SyncError.tooManyScopes }
      let note = ScopeNote(scope: scope, loading: loading)
      try tx.setSyncNote(ScopeNote.name(number), to: try note.noted())
      numbers[scope] = number
    }
    return numbers.filter { scopes.contains($0.key) }
  }

  /// Makes the collections synced that have come into being since.
  func beginNew() throws {
    let new = try store.read { snapshot in
      collections.values.filter { collection in
        collection.direction == .both && snapshot.outline(of: collection.name)?.isSynced == false
      }
    }
    guard !new.isEmpty else { return }
    try write { tx in
      for collection in new {
        guard let outline = tx.outline(of: collection.name) else { continue }
        if outline.keyField == nil { throw SyncError.noKeyField(collection: collection.name) }
        try begin(collection, outline, &tx)
      }
    }
  }

  /// Makes a collection synced that is not yet. One that goes no way up here stays as it is: another engine on the same
  /// store may send its edits, and they must be noted for it.
  func begin(
    _ collection: SyncedCollection, _ outline: CollectionOutline, _ tx: inout WriteScope
  ) throws {
    guard collection.direction == .both, !outline.isSynced else { return }
    try tx.setSynced(collection.name, true)
    if collection.existing == .sent { _ = try tx.addAllToOutbox(collection.name) }
  }

  /// Forgets whose the store was, and what was not sent.
  static func forgetAccount(_ names: [String], in store: Store) throws {
    try store.prepareOutbox()
    try store.write(as: .sync) { tx in
      try erase(names, in: store, &tx)
      try tx.setSyncNote(accountName, to: nil)
      // It has what was erased.
      try tx.forgetHistory()
    }
  }

  /// Erases the documents of some collections, and what is known of the remote of all: neither an edit of one
  /// account nor the number of its scope may come to another.
  private static func erase(_ names: [String], in store: Store, _ tx: inout WriteScope) throws {
    for name in names where tx.outline(of: name) != nil {
      try tx.eraseAllData(of: store.collection(name))
    }
    try tx.forgetRemote()
    let notes =
      try tx.syncNotes(withPrefix: ScopeNote.prefix)
      + tx.syncNotes(withPrefix: RefusedNote.prefix)
    for (name, _) in notes { try tx.setSyncNote(name, to: nil) }
    try tx.setSyncNote(leftEarlierName, to: nil)
    try tx.setSyncNote(ownershipName, to: nil)
  }

  // MARK: Scopes

  /// How far a scope was read. Where it is to be loaded from its beginning because documents were erased, that is
  /// noted first: whoever reads it as well must not go on from the old place.
  ///
  /// A beginning for the sake of a collection that was not followed before is noted with its first page. An engine
  /// with other collections may go on from the old place, and two that do not agree would only set each other back.
  func note(of scope: String) throws -> ScopeNote {
    let name = ScopeNote.name(number(of: scope))
    let (note, old, isErased) = try store.read { snapshot in
      let eraseCounts = try eraseCounts(snapshot)
      let old = try snapshot.syncNote(name)
      let stored = ScopeNote(noted: old)
      // Erased documents come again only from the beginning, and so do those of a collection that was not
      // followed when they came.
      var new = beginning(of: scope, after: stored?.loading ?? 0, eraseCounts)
      guard var known = stored, known.scope == scope, !known.isErased(eraseCounts) else {
        return (new, old, true)
      }
      guard known.hasFollowed(collections.keys) else {
        new.replaced = old
        return (new, old, false)
      }
      known.collections = collections.keys.sorted()
      return (known, old, false)
    }
    guard isErased else { return note }
    let bytes = try note.noted()
    try write { tx in
      // Where another engine has just noted something, the pull begins again behind its first page.
      if try tx.syncNote(name) == old { try tx.setSyncNote(name, to: bytes) }
    }
    return note
  }

  /// The note of a scope that is to be loaded from its beginning.
  private func beginning(
    of scope: String, after loading: UInt8, _ eraseCounts: [String: UInt64]
  ) -> ScopeNote {
    ScopeNote(
      scope: scope, loading: SyncBase.loading(after: loading),
      collections: collections.keys.sorted(), eraseCounts: eraseCounts)
  }

  /// Notes how far a scope was read.
  func keep(_ note: ScopeNote) throws {
    let bytes = try note.noted()
    try write(at: note) { try $0.setSyncNote(ScopeNote.name(number(of: note.scope)), to: bytes) }
  }

  /// Has a scope loaded from its beginning by the next pull, unless another engine has gone on with it meanwhile.
  func restart(_ note: ScopeNote) throws {
    let number = number(of: note.scope)
    try write { tx in
      if try isCurrent(note, tx) { try restart(number, &tx) }
    }
  }

  /// The same in a transaction that does more.
  func restart(_ number: UInt16, _ tx: inout WriteScope) throws {
    let name = ScopeNote.name(number)
    guard let note = ScopeNote(noted: try tx.syncNote(name)) else { return }
    let new = beginning(of: note.scope, after: note.loading, note.eraseCounts)
    try tx.setSyncNote(name, to: try new.noted())
  }

  private func eraseCounts(_ snapshot: borrowing Snapshot) throws -> [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for name in collections.keys {
      let count = try snapshot.eraseCount(name)
      if count > 0 { counts[name] = count }
    }
    return counts
  }

  /// How many documents of a scope the remote is known to have.
  func baseCount(of scope: String) throws -> Int {
    let number = number(of: scope)
    return try store.read { snapshot in
      var count = 0
      for name in collections.keys {
        try snapshot.forEachBase(name) { _, base in
          if let base = SyncBase(base), base.scope == number, !base.hasLeft {
            count += 1
          }
          return true
        }
        // Beside an edit that waits stands the version that the remote has by now.
        try snapshot.forEachOutboxEntry(name) { key, entry in
          guard let newer = entry.newer, let there = SyncBase(newer.base), there.scope == number,
            !there.hasLeft
          else { return true }
          let base = SyncBase(try snapshot.base(name, key))
          let isCounted = base?.scope == number && base?.hasLeft == false
          count += (newer.record == nil ? 0 : 1) - (isCounted ? 1 : 0)
          return true
        }
      }
      // Those that could not be saved are there all the same.
      for (_, bytes) in try snapshot.syncNotes(withPrefix: RefusedNote.prefix) {
        guard let refused = RefusedNote(noted: bytes), refused.scope == number,
          !refused.json.isEmpty, let outline = snapshot.outline(of: refused.collection)
        else { continue }
        let key = try? key(named: RemoteKey(refused.collection, refused.key), outline)
        if try key.flatMap({ try snapshot.base(refused.collection, $0) }) == nil { count += 1 }
      }
      return count
    }
  }
}

/// Ends the pull of a scope that another engine on the same store has gone on with, or begun anew.
struct Overtaken: Error {}
