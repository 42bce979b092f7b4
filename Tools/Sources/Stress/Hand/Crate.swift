import Larder

/// What a hand puts into its stores.
@Document
struct Crate: Equatable {
  var id: String
  var nonce: String
  @Indexed var group = 0
  var body = ""
}
