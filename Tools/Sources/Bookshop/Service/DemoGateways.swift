// The shop has no server for telephones and money. These two stand in its place, and refuse what a
// real one would.

/// Sends codes to a screen instead of a telephone.
@MainActor final class DemoAuthGateway: AuthGateway {
  private let fixedCode: String?
  private var codes: [String: String] = [:]
  /// The telephone that the SMS arrives at.
  var onSMS: (String) -> Void = { _ in }

  /// - Parameter fixedCode: Instead of one that nobody can know, for scripts.
  init(fixedCode: String?) { self.fixedCode = fixedCode }

  func sendCode(phone: String) {
    let code = fixedCode ?? String(Int.random(in: 1000...9999))
    codes[phone] = code
    onSMS("SMS to \(phone): your code is \(code)")
  }

  func token(phone: String, code: String) throws -> String {
    guard codes[phone] == code else { throw AuthError.wrongCode }
    // A code is good for one time.
    codes[phone] = nil
    return "token-\(phone)"
  }
}

/// Takes no money.
struct DemoPaymentGateway: PaymentGateway {
  func charge(cents: Int, card: String) async throws -> String {
    guard Self.isCard(card) else { throw PaymentError.declined }
    return "receipt-\(cents)-\(card.suffix(4))"
  }

  /// Whether the last digit is the one that the others ask for.
  private static func isCard(_ card: String) -> Bool {
    let digits = card.compactMap(\.wholeNumberValue)
    guard digits.count == card.count, (12...19).contains(digits.count) else { return false }
    let sum = digits.reversed().enumerated().reduce(0) { sum, place in
      let digit = place.offset.isMultiple(of: 2) ? place.element : place.element * 2
      return sum + (digit > 9 ? digit - 9 : digit)
    }
    return sum > 0 && sum.isMultiple(of: 10)
  }
}
