internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How far a scope was read. Kept in the store, in the transaction that saves what was read.
struct ScopeNote: Codable, Equatable {
  /// The scope's name.
  var scope: String
  /// Behind what was saved; nil before the first page.
  var cursor: String?
  /// Whether the scope is being loaded from the beginning.
  var isLoading = true
  /// Counts loadings from the beginning: a document that was not seen in the last one is gone.
  var loading: UInt8 = 0
  /// Whether documents were sent that a whole loading did not show; the next pull decides.
  var hasMissed: Bool?
  /// Whether the scope has documents of collections that are not followed here.
  var hasOthers: Bool?
  /// The collections that were followed all the time since the cursor was begun with.
  var collections: [String]?
  /// How often each collection had been erased when the cursor was begun with.
  var eraseCounts: [String: UInt64] = [:]
  /// What stands in the store until the first page notes this beginning; nil where this note stands there.
  var replaced: [UInt8]?

  private enum CodingKeys: String, CodingKey {
    case scope, cursor, isLoading, loading, hasMissed, hasOthers, collections, eraseCounts
  }

  /// Whether a collection that was followed was erased since the cursor was begun with.
  ///
  /// - Parameter counts: How often each collection was erased.
  func isErased(_ counts: [String: UInt64]) -> Bool {
    counts.contains { name, count in
      eraseCounts[name] != count && collections?.contains(name) != false
    }
  }

  /// Whether nothing of these collections was passed over.
  func hasFollowed(_ names: some Sequence<String>) -> Bool {
    guard let collections else { return hasOthers != true }
    return names.allSatisfy(collections.contains)
  }

  static let prefix = "scope/"

  static func name(_ number: UInt16) -> String { "\(prefix)\(number)" }

  /// Nil for a name that is not that of a scope.
  static func number(_ name: String) -> UInt16? { UInt16(name.dropFirst(prefix.count)) }
}

/// A document of the remote that could not be saved here.
struct RefusedNote: Codable, Equatable {
  var scope: UInt16
  var collection: String
  var key: String
  var revision: String
  var json: Data
  var reason: String

  static let prefix = "refused/"

  /// Two that share a name take each other's place, and come again with their next change.
  static func name(_ key: RemoteKey) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
    for byte in key.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return prefix + String(hash, radix: 16)
  }
}

extension Encodable {
  /// The note's bytes.
  func noted() throws -> [UInt8] { [UInt8](try JSONEncoder().encode(self)) }
}

extension Decodable {
  /// Nil for bytes that are no such note.
  init?(noted bytes: [UInt8]?) {
    guard let bytes, let note = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else {
      return nil
    }
    self = note
  }
}
