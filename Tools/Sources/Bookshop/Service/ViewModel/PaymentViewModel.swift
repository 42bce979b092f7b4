/// A price and a card.
@MainActor protocol PaymentViewModel: ViewModel {
  var offer: Offer { get }
  var error: String? { get }
  var isBusy: Bool { get }

  func pay(card: String) async
}

final class BookshopPaymentViewModel: PaymentViewModel {
  private let payment: any PaymentService
  let offer: Offer
  private(set) var error: String?
  private(set) var isBusy = false
  var onChange: () -> Void = {}
  let outcome = Outcome<Bool>()

  init(payment: any PaymentService, offer: Offer) {
    self.payment = payment
    self.offer = offer
  }

  func pay(card: String) async {
    guard !isBusy else { return }
    isBusy = true
    error = nil
    onChange()
    do {
      try await payment.pay(offer, card: card)
      outcome.settle(true)
    } catch {
      self.error = "\(error)"
    }
    isBusy = false
    onChange()
  }

  /// Does nothing while the card is being charged: what comes of it has to be known.
  func close() {
    if !isBusy { outcome.settle(false) }
  }
}
