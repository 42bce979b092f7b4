import Foundation
import Larder

/// A document with a rule of every kind.
@Document struct Stocked: Equatable {
  var id: String
  var name = ""
  @Merge(.counter) var stock = 10
  @Merge(.set) var shops: [String] = []
  @Merge(.max) var seen = 0
  @Merge(.custom(Stocked.both)) var notes = ""
  @Merge(.counter) var small: Int8 = 0
  @Merge(.counter) var maybe: Int?
  @Merge(.max) var grade = Grade.low
  @Merge(.max) var award: Grade?
  var shelf = Shelf()

  /// Both texts, in the order in which they reach the server.
  static func both(_ before: String?, _ here: String?, _ there: String?) throws -> String? {
    let (here, there) = (here ?? "", there ?? "")
    guard !here.contains("!"), !there.contains("!") else { throw Unreadable() }
    return there + "|" + here
  }

  struct Unreadable: Error {}
}

enum Grade: Int, Storable, Sendable { case low, high, highest }

@EmbeddedDocument struct Shelf: Equatable {
  var row = 0
  @Merge(.counter) var count = 0
}
