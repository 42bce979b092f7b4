enum OnboardingAnswer: Sendable, Equatable {
  case finished
  /// The reader wants the subscription at a discount.
  case tookOffer
}

/// A few pages that greet a new reader; the last one may have an offer.
@MainActor protocol OnboardingViewModel: ViewModel {
  var pages: [String] { get }
  var index: Int { get }
  var offer: Offer? { get }

  func next()
  /// Does nothing on a page without an offer.
  func takeOffer()
}

extension OnboardingViewModel {
  var isLast: Bool { index == pages.count - 1 }
}

final class BookshopOnboardingViewModel: OnboardingViewModel {
  static let greetings = [
    "Welcome to the Bookshop. The catalogue is on your device: it opens at once, with or without a "
      + "network, and is refreshed behind.",
    "Your stars and your basket are yours, whatever the shop's server says.",
  ]

  let pages: [String]
  let offer: Offer?
  private(set) var index = 0
  var onChange: () -> Void = {}
  let outcome = Outcome<OnboardingAnswer>()

  init(offer: Offer?) {
    self.offer = offer
    pages = Self.greetings + (offer.map { ["Read everything for \(money($0.price)), once."] } ?? [])
  }

  func next() {
    if isLast { return outcome.settle(.finished) }
    index += 1
    onChange()
  }

  func takeOffer() {
    if isLast, offer != nil { outcome.settle(.tookOffer) }
  }

  /// There is nothing behind the first page.
  func close() {}
}

/// A price in cents, as it is shown.
func money(_ cents: Int) -> String {
  let (units, rest) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
  return (cents < 0 ? "-" : "") + "\(units).\(rest < 10 ? "0" : "")\(rest)"
}
