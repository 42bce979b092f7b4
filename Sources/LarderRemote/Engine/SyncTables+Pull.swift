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
  func apply(_ answer: PullAnswer, _ note: ScopeNote, isLast: Bool) throws {
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
    try save(changes, note, next)
  }

  private func check(_ change: RemoteChange) throws {
    guard (1...SyncBase.mostRevisionByteCount).contains(change.revision.utf8.count) else {
      throw RemoteError.malformed(
        "the revision of \(change.key) has \(change.revision.utf8.count) bytes, and not 1 to "
          + "\(SyncBase.mostRevisionByteCount)")
    }
  }

  /// Saves changes in one transaction, with what is noted with them.
  private func save(_ changes: [RemoteChange], _ note: ScopeNote, _ next: ScopeNote) throws {
    func write(
      _ body: (inout WriteScope) throws -> Refusals
    ) throws -> Refusals {
      try self.write(at: note) { tx in
        let refused = try body(&tx)
        let name = ScopeNote.name(number(of: note.scope))
        if next != ScopeNote(noted: try tx.syncNote(name)) {
          try tx.setSyncNote(name, to: try next.noted())
        }
        return refused
      }
    }
    let refused: Refusals
    do {
      // Nearly always all of it can be saved, and nothing has to be undone.
      refused = try write { try save(changes[...], note, &$0) }
    } catch let error where Self.isRefusal(error) {
      refused = try write { try saveParts(changes[...], note, &$0) }
    }
    refusals.withLock { $0 += refused }
  }

  private func save(
    _ changes: ArraySlice<RemoteChange>, _ note: ScopeNote, _ tx: inout WriteScope
  ) throws -> Refusals {
    var page = PulledPage(self, note)
    for change in changes { try page.add(change, &tx) }
    try page.save(&tx)
    return Refusals(count: page.refusedCount)
  }

  /// Saves those changes that can be saved, and sets the others aside.
  ///
  /// In transactions inside of one: with one for each refused document 5,000 of them took 59 s, and 6.4 s so, in a debug
  /// build on a disk.
  private func saveParts(
    _ changes: ArraySlice<RemoteChange>, _ note: ScopeNote, _ tx: inout WriteScope
  ) throws -> Refusals {
    do {
      return try tx.undoable { try save(changes, note, &$0) }
    } catch let error where Self.isRefusal(error) {
      guard changes.count > 1 else {
        guard let change = changes.first else { return Refusals() }
        try refuse(change, note, error, &tx)
        guard case .uniqueViolation? = error as? StoreError else { return Refusals(count: 1) }
        return Refusals(count: 1, clashCount: 1)
      }
      let middle = changes.startIndex + changes.count / 2
      var refused = try saveParts(changes[..<middle], note, &tx)
      refused += try saveParts(changes[middle...], note, &tx)
      return refused
    }
  }

  /// Whether it is a document that is at fault, and not the store.
  static func isRefusal(_ error: any Error) -> Bool {
    error is UnreadableChange || (error as? StoreError)?.isOfDocument == true
  }

  /// Whether a page has documents of collections that are not followed.
  func hasOthers(_ answer: PullAnswer) -> Bool {
    answer.changes.contains { collections[$0.key.collection] == nil }
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
