import Larder

/// What a hand puts into its stores.
@Document
struct Crate: Equatable {
  var id: String
  @Searchable var nonce: String
  @Indexed var group = 0
  @Searchable var body = ""
}
