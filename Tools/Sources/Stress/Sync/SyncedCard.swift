import Larder
import LarderRemote

/// What the clients of the sync campaign edit. Numbers are counters and lists are sets, so that every single edit
/// shows in the end: one that was lost, and one that was applied twice.
@Document
struct SyncedCard: Equatable {
  var id: String
  var title = ""
  var count = 0
  var tags: [String] = []
  var spot = SyncedSpot()

  static let rules: MergeRules = ["count": .counter, "tags": .set]

  /// Cards that all clients edit and nobody deletes, and one that is deleted again and again.
  static let names = ["a", "b", "c", "d"]
  static let deletedName = "gone"
}

@EmbeddedDocument
struct SyncedSpot: Equatable {
  var x = 0
  var y = 0
}

/// An edit of a card, which is kept in the transaction that makes it, and stays with the client: what a store says
/// that was done.
@Document
struct SyncedEdit: Equatable {
  /// `client-start-number`.
  var id: String
  var card: String
  var added = 0
  var tag: String?
  /// A tag that was taken away.
  var removed: String?
}
