internal import LarderRemote

/// What an ``InMemoryRemote`` holds, and the order in which it came about.
///
/// A place numbers each change. As everything happens under one lock, no change takes a place that a cursor
/// has passed.
struct InMemoryTables: Sendable {
  /// A document or a tombstone.
  struct Row: Sendable {
    var scope: String
    var revision: String
    var document: RemoteDocument?
    var place: Int
  }

  /// A document's newest change, as a scope tells it. Stays behind when a later one takes over.
  struct Entry: Sendable {
    var place: Int
    var key: RemoteKey
    /// The revision with which the document left; nil for a change within the scope.
    var departure: String?
  }

  /// The mutation that a user has sent under an id, and what came of it.
  struct Note: Sendable {
    var scope: String
    var mutation: Mutation
    var revision: String
  }

  struct NoteName: Hashable, Sendable {
    var user: String
    var id: String
  }

  var rows: [RemoteKey: Row] = [:]
  var feeds: [String: [Entry]] = [:]
  /// For each scope, the places of the departures that hold still.
  var departures: [String: [RemoteKey: Int]] = [:]
  var notes: [NoteName: Note] = [:]
  /// For each scope, the last place of which something was forgotten.
  var horizons: [String: Int] = [:]
  var place = 0
  var revisionCount = 0
  /// Cursors of an earlier one have expired.
  var generation = 1
  private var changedScopes: Set<String> = []

  func documents(in scope: String) -> [RemoteKey: Row] {
    var found: [RemoteKey: Row] = [:]
    for entry in feeds[scope] ?? [] where entry.departure == nil {
      if let row = rows[entry.key], row.place == entry.place, row.document != nil {
        found[entry.key] = row
      }
    }
    return found
  }

  /// Puts a document or a tombstone into a scope, and tells the scope that it was in before; its revision.
  @discardableResult
  mutating func store(_ key: RemoteKey, _ document: RemoteDocument?, in scope: String) -> String {
    place += 1
    let revision = newRevision()
    if let old = rows[key], old.scope != scope {
      departures[old.scope, default: [:]][key] = place
      append(Entry(place: place, key: key, departure: revision), to: old.scope)
    }
    departures[scope]?[key] = nil
    rows[key] = Row(scope: scope, revision: revision, document: document, place: place)
    append(Entry(place: place, key: key), to: scope)
    return revision
  }

  mutating func newRevision() -> String {
    revisionCount += 1
    return "r\(revisionCount)"
  }

  mutating func noteChange(in scope: String) { changedScopes.insert(scope) }

  mutating func takeChangedScopes() -> Set<String> {
    defer { changedScopes = [] }
    return changedScopes
  }

  mutating func purge() {
    for (key, row) in rows where row.document == nil {
      horizons[row.scope] = max(horizons[row.scope] ?? 0, row.place)
      rows[key] = nil
    }
    for (scope, places) in departures {
      horizons[scope] = max(horizons[scope] ?? 0, places.values.max() ?? 0)
    }
    departures = [:]
    notes = [:]
    for (scope, feed) in feeds { feeds[scope] = feed.filter { isCurrent($0, in: scope) } }
  }

  private mutating func append(_ entry: Entry, to scope: String) {
    noteChange(in: scope)
    feeds[scope, default: []].append(entry)
    // What later changes took over is at most about half.
    guard let feed = feeds[scope], feed.count > 64, feed.count.nonzeroBitCount == 1 else { return }
    feeds[scope] = feed.filter { isCurrent($0, in: scope) }
  }

  /// Whether an entry says what is so.
  func isCurrent(_ entry: Entry, in scope: String) -> Bool {
    if entry.departure != nil { return departures[scope]?[entry.key] == entry.place }
    guard let row = rows[entry.key] else { return false }
    return row.place == entry.place && row.scope == scope
  }
}
