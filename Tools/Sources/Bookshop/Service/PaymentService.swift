enum PaymentError: Error, Equatable, CustomStringConvertible {
  case declined
  /// A payment is under way.
  case busy
  case unreachable(String)

  var description: String {
    switch self {
    case .declined: "The card was declined. Nothing was charged."
    case .busy: "A payment is under way."
    case .unreachable(let reason): "The bank cannot be reached: \(reason)"
    }
  }
}

/// Sells the subscription that books are read with. It belongs to the device: one can pay before
/// one has signed in.
@MainActor protocol PaymentService: AnyObject {
  var isPaid: Bool { get }
  /// Told of the receipt of a payment.
  var onReceipt: (String) -> Void { get set }

  /// Goes on where an earlier run of the app has stopped.
  func restore(receipt: String?)
  /// Charges the card, unless the subscription is paid already: nobody pays twice.
  ///
  /// - Throws: ``PaymentError``; nothing was charged.
  func pay(_ offer: Offer, card: String) async throws
}

protocol PaymentGateway: Sendable {
  /// Returns the receipt.
  ///
  /// - Throws: ``PaymentError/declined``; anything else for a bank that cannot be reached.
  func charge(cents: Int, card: String) async throws -> String
}

final class CardPaymentService: PaymentService {
  private let gateway: any PaymentGateway
  private(set) var isPaid = false
  private var isPaying = false
  var onReceipt: (String) -> Void = { _ in }

  init(gateway: any PaymentGateway) { self.gateway = gateway }

  func restore(receipt: String?) { isPaid = receipt != nil }

  func pay(_ offer: Offer, card: String) async throws {
    if isPaid { return }
    guard !isPaying else { throw PaymentError.busy }
    isPaying = true
    defer { isPaying = false }
    do {
      let receipt = try await gateway.charge(
        cents: offer.price, card: card.filter { !$0.isWhitespace })
      isPaid = true
      onReceipt(receipt)
    } catch let error as PaymentError {
      throw error
    } catch {
      throw PaymentError.unreachable("\(error)")
    }
  }
}
