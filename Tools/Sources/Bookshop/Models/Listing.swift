/// A book as the shop's server tells of it. The server knows nothing of ratings and baskets.
struct Listing: Codable, Sendable, Equatable {
  var id: String
  var title: String
  var author: String
  /// In cents.
  var price: Int
  var year: Int
  var genre: String
  var blurb: String
}
