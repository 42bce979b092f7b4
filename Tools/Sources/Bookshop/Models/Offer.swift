/// What a subscription costs, by the occasion.
enum Offer: String, Sendable {
  case onboarding
  case regular

  /// In cents.
  var price: Int {
    switch self {
    case .onboarding: 200
    case .regular: 2000
    }
  }
}
