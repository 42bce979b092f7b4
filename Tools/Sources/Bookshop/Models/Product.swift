/// Which of three products the app is. The two changes are the article's; each is a few lines inside
/// scenarios, and nothing else knows of it.
enum Product: String, CaseIterable, Sendable {
  /// Onboarding, sign-in, catalogue; whoever opens a book pays first.
  case original
  /// The first change: a subscription at a discount is offered in the onboarding, before sign-in.
  case discount
  /// The second change: the catalogue is open to everyone; sign-in comes before a book. The
  /// discount stays.
  case open
}

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
