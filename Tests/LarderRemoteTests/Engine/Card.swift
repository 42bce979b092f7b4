import Larder
import LarderRemote

@Document struct Card: Equatable {
  var id: String
  var title = ""
  /// Only one card of a store may have it, which the server does not know.
  @Indexed(unique: true) var slot: String?
  var count = 0
  var tags: [String] = []
  var spot = Spot()

  static let rules: MergeRules = ["count": .counter, "tags": .set]
}

@EmbeddedDocument struct Spot: Equatable {
  var x = 0
  var y = 0
}
