internal import Larder

/// What a remote has of a document.
struct Incoming {
  var base: SyncBase
  /// Nil where it is deleted.
  var document: DynamicDocument?
}

/// One document whose edit meets another version of the remote, in the transaction that settles it.
///
/// The one place where conflicts are decided: for pages that were pulled, for answers to what was sent, and
/// for what somebody settles later.
struct Reconciling {
  let place: SyncTables.Place
  let key: [UInt8]
  var entry: OutboxEntry
  /// Whether more of what others have changed may come before the edit is sent: a unique value that is taken may
  /// become free.
  var isEarly = false

  private var name: String { place.collection.name }

  /// Settles the document, and leaves in the outbox what is still to be sent.
  ///
  /// - Parameter resolution: Nil to ask the resolver of the collection.
  mutating func settle(
    _ incoming: Incoming, as resolution: Resolution? = nil, _ tx: inout WriteScope
  ) throws {
    var there = incoming
    if let document = there.document {
      // In the kinds in which it would be read here: 1 may be 1.0.
      there.document = try tx.document(name, key, record: record(of: document, &tx))
    }
    there.base.noteSeen(entry.newer)
    entry.flight = nil
    entry.newer = nil
    entry.hold = nil
    let here = try here(tx)
    let areTheSame =
      here == there.document && !(entry.hasBase && place.synced.rules.hasCounters)
    if areTheSame || (here == nil && (!entry.isDeleted || there.document == nil)) {
      return try adopt(there, isThere: here != nil, &tx)
    }
    let conflict = SyncConflict(
      key: RemoteKey(name, place.outline.text(key)), before: before(tx), here: here,
      there: there.document)
    switch resolution ?? place.synced.resolver?(conflict) ?? .merged {
    case .merged: try merge(conflict, there, isAsked: resolution == .merged, &tx)
    case .here: try keep(here, there, &tx)
    case .there: try adopt(there, isThere: here != nil, &tx)
    case .document(let document):
      try keepMade(document, there, isAsked: resolution != nil, &tx)
    case .both(let other):
      try keepBoth(here, under: other, there, isAsked: resolution != nil, &tx)
    case .ask: try ask(there, &tx)
    }
  }

  private func here(_ tx: borrowing WriteScope) throws -> DynamicDocument? {
    guard let value = place.outline.value(key) else { return nil }
    return try tx.get(value, in: place.collection)
  }

  /// What both began with. One that cannot be read is not known.
  private func before(_ tx: borrowing WriteScope) -> DynamicDocument? {
    guard let shadow = entry.shadow else { return nil }
    return (try? place.document(kept: shadow, key, tx)) ?? nil
  }

  /// - Parameter isAsked: Whether somebody waits for it, who is told what keeps it from being merged.
  private mutating func merge(
    _ conflict: SyncConflict, _ there: Incoming, isAsked: Bool, _ tx: inout WriteScope
  ) throws {
    if let here = conflict.here, let remote = conflict.there {
      let merge = ThreeWayMerge(rules: place.synced.rules, beganWithNothing: !entry.hasBase)
      do {
        var merged = try merge.merge(conflict.before, here: here, there: remote)
        merged[place.keyField] = here[place.keyField]
        // A rule may make what the collection cannot hold.
        _ = try record(of: merged, &tx)
        return try keep(merged, there, &tx)
      } catch let failure as MergeFailure {
        let reason = "`\(failure.field)` cannot be merged: \(failure.reason)"
        if isAsked { throw SyncError.unmergeable(conflict.key, reason: reason) }
        return try ask(there, because: reason, &tx)
      } catch StoreError.uniqueViolation where isEarly {
        return try wait(there, hold: nil, &tx)
      } catch let error where !isAsked && SyncTables.isRefusal(error) {
        return try ask(there, because: "the merged document cannot be saved: \(error)", &tx)
      }
    }
    // One of the two has deleted what the other has changed, or nothing but written again.
    if let before = conflict.before, before == conflict.here ?? conflict.there {
      return conflict.here == nil
        ? try keep(nil, there, &tx) : try adopt(there, isThere: true, &tx)
    }
    switch place.synced.deletions {
    case .ask where isAsked:
      throw SyncError.unmergeable(conflict.key, reason: "one side has deleted it")
    case .ask: try ask(there, &tx)
    case .editWins where conflict.here == nil, .deletionWins where conflict.here != nil:
      try adopt(there, isThere: conflict.here != nil, &tx)
    case .editWins, .deletionWins: try keep(conflict.here, there, &tx)
    }
  }

  /// The document is to be this, here and there, as a resolver or somebody says.
  ///
  /// - Parameter isAsked: Whether somebody waits for it, who is told what keeps it from being saved.
  private mutating func keepMade(
    _ document: DynamicDocument?, _ there: Incoming, isAsked: Bool, _ tx: inout WriteScope
  ) throws {
    // What the remote has is no fault of the resolver's.
    if document == there.document { return try keep(document, there, &tx) }
    do {
      if var document {
        document[place.keyField] = place.outline.value(key)
        _ = try record(of: document, &tx)
      }
      try keep(document, there, &tx)
    } catch StoreError.uniqueViolation where isEarly && !isAsked {
      try wait(there, hold: nil, &tx)
    } catch let error where !isAsked && SyncTables.isRefusal(error) {
      try ask(there, because: Self.ofResolver(error), &tx)
    }
  }

  private static func ofResolver(_ error: any Error) -> String {
    "what the resolver has made cannot be saved: \(error)"
  }

  /// The document is to be this, here and there.
  private mutating func keep(
    _ document: DynamicDocument?, _ there: Incoming, _ tx: inout WriteScope
  ) throws {
    if document == there.document {
      return try adopt(there, isThere: try here(tx) != nil, &tx)
    }
    if var document {
      // Under this key, whatever a resolver has made of it.
      document[place.keyField] = place.outline.value(key)
      try tx.save([document], in: place.collection, keyField: place.keyField)
    } else if let value = place.outline.value(key) {
      try tx.delete(key: value, in: place.collection)
    }
    try forgetRefused(&tx)
    entry.isDeleted = document == nil
    // A document that is created again goes to the scope that it was in: others might read it in another one.
    var base = there.base
    if there.document == nil { base.revision = SyncTables.noRevision }
    entry.base = base.bytes
    entry.shadow = try there.document.map { try record(of: $0, &tx) }
    try tx.setSyncBase(name, key, to: there.document == nil ? nil : there.base)
    try tx.setOutboxEntry(name, key, to: entry)
  }

  /// What the remote has is what stands here now, and nothing is to be sent.
  private mutating func adopt(
    _ there: Incoming, isThere: Bool, _ tx: inout WriteScope
  ) throws {
    if let document = there.document {
      try tx.save([document], in: place.collection, keyField: place.keyField)
    } else if isThere, let value = place.outline.value(key) {
      try tx.delete(key: value, in: place.collection)
    }
    try forgetRefused(&tx)
    try tx.setSyncBase(name, key, to: there.document == nil ? nil : there.base)
    try tx.setOutboxEntry(name, key, to: nil)
  }

  /// A version that could not be saved here before is an earlier one.
  private func forgetRefused(_ tx: inout WriteScope) throws {
    try tx.setSyncNote(RefusedNote.name(RemoteKey(name, place.outline.text(key))), to: nil)
  }

  /// - Parameter isAsked: As for ``keepMade(_:_:isAsked:_:)``.
  private mutating func keepBoth(
    _ here: DynamicDocument?, under other: Value, _ there: Incoming, isAsked: Bool,
    _ tx: inout WriteScope
  ) throws {
    guard let edited = here else { return try adopt(there, isThere: false, &tx) }
    var copy = edited
    copy[place.keyField] = other
    let otherKey = place.outline.key(of: copy)
    if otherKey == key { return try keep(here, there, &tx) }
    do {
      if let otherKey, !(1...KeyKind.maximumByteCount).contains(otherKey.count) {
        throw StoreError.keyLength(
          collection: name, key: place.outline.text(otherKey), byteCount: otherKey.count,
          limit: KeyKind.maximumByteCount)
      }
      _ = try record(of: copy, &tx)
    } catch let error where !isAsked && SyncTables.isRefusal(error) {
      return try ask(there, because: Self.ofResolver(error), &tx)
    }
    try adopt(there, isThere: true, &tx)
    let old = try otherKey.flatMap { try tx.recordBytes(name, $0) }
    do {
      try tx.save([copy], in: place.collection, keyField: place.keyField)
    } catch let error where !isAsked && SyncTables.isRefusal(error) {
      try tx.save([edited], in: place.collection, keyField: place.keyField)
      return try ask(there, because: Self.ofResolver(error), &tx)
    }
    guard let otherKey else { return }
    // As if it had been made here, also where that key has a document that is under way.
    var made: OutboxEntry
    if let waiting = try tx.outboxEntry(name, otherKey) {
      made = waiting
    } else {
      made = OutboxEntry()
      made.sequence = entry.sequence
      made.base = try tx.base(name, otherKey)
      if made.base != nil { (made.shadow, made.isUnseen) = (old, old == nil) }
    }
    made.edit(old: old)
    try tx.setOutboxEntry(name, otherKey, to: made)
  }

  private mutating func ask(
    _ there: Incoming, because reason: String = "", _ tx: inout WriteScope
  ) throws {
    try wait(there, hold: OutboxEntry.Hold(code: "", reason: reason), &tx)
  }

  /// Keeps the remote's version beside the edit until the two are settled: by somebody where there is a hold, and else
  /// before the edit is sent.
  private mutating func wait(
    _ there: Incoming, hold: OutboxEntry.Hold?, _ tx: inout WriteScope
  ) throws {
    entry.newer = OutboxEntry.Version(
      base: there.base.bytes, record: try there.document.map { try record(of: $0, &tx) })
    entry.hold = hold
    try tx.setOutboxEntry(name, key, to: entry)
    // Until somebody answers it may be deleted there, and be missing when its scope is loaded anew.
    guard there.document != nil else { return }
    let base = SyncBase(try tx.base(name, key))
    if base?.hasLeft ?? true, base == nil || !there.base.hasLeft {
      try tx.setSyncBase(name, key, to: there.base)
    }
  }

  /// The record that the remote's document would be here. Its fields are made known first.
  private func record(of document: DynamicDocument, _ tx: inout WriteScope) throws -> [UInt8] {
    try tx.makeKnown([document], in: place.collection, keyField: place.keyField)
    return try tx.record(of: document, in: place.collection)
  }
}
