internal import Larder
internal import LarderImport
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// What could not be saved is tried again: another version of the app may know more fields, and unique values may have
// become free.

extension SyncTables {
  /// Tries once more to save what could not be saved, each document by itself, and those together that have unique
  /// values of each other.
  ///
  /// - Parameters:
  ///   - last: The name of the note behind which to begin; afterwards, behind which to go on another time. Nil for the
  ///     beginning.
  ///   - most: How many are tried at most; nil for all. If there are no more than 256, all of them are, and together.
  /// - Returns: How many there were to try.
  func retryRefused(after last: inout String?, most: Int?) throws -> Int {
    let start = last
    let (notes, isPart, outlines) = try store.read { snapshot in
      var outlines: [String: CollectionOutline] = [:]
      for name in collections.keys { outlines[name] = snapshot.outline(of: name) }
      let prefix = RefusedNote.prefix
      guard let most else { return (try snapshot.syncNotes(withPrefix: prefix), false, outlines) }
      let limit = max(most, Self.mostTogether) + 1
      let all = try snapshot.syncNotes(withPrefix: prefix, limit: limit)
      if all.count < limit { return (all, false, outlines) }
      let part = try snapshot.syncNotes(withPrefix: prefix, after: start, limit: most)
      return (part, true, outlines)
    }
    last = isPart && notes.count == most ? notes.last?.name : nil
    var retry = RefusedRetry(tables: self)
    var scopes: [String: ScopeNote] = [:]
    for (name, bytes) in notes {
      guard let note = RefusedNote(noted: bytes), collections[note.collection] != nil,
        let followed = scope(numbered: note.scope), !note.json.isEmpty
      else { continue }
      let change = RemoteChange(
        RemoteKey(note.collection, note.key), revision: note.revision,
        .document(RemoteDocument(json: note.json)))
      var key = change.key
      if let outline = outlines[note.collection] {
        // A remote may spell all its keys otherwise, and trying them would come to nothing.
        guard let here = try? self.key(named: change.key, outline) else { continue }
        key = RemoteKey(note.collection, outline.described(here))
      }
      let scope = try scopes[followed] ?? self.note(of: followed)
      scopes[followed] = scope
      // It comes again with the pages of a scope that is about to be loaded from its beginning, if it is still there.
      // Saved now, it would count as seen by that loading.
      if scope.cursor == nil { continue }
      retry.line.append(
        RefusedRetry.Refused(name: name, bytes: bytes, scope: scope, key: key, change: change))
    }
    try retry.run(isTogether: !isPart && notes.count <= Self.mostTogether)
    return notes.count
  }

  /// So many documents are always tried, and together: they may have values of each other.
  private static let mostTogether = 256
}
