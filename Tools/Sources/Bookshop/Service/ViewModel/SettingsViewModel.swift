enum SettingsAnswer: Sendable, Equatable {
  case closed
  case signOut
}

/// Who is signed in, and what is paid.
final class SettingsViewModel: ViewModel {
  private let auth: any AuthService
  private let payment: any PaymentService
  let product: Product
  var onChange: () -> Void = {}
  let outcome = Outcome<SettingsAnswer>()

  init(auth: any AuthService, payment: any PaymentService, product: Product) {
    self.auth = auth
    self.payment = payment
    self.product = product
  }

  var phone: String? {
    if case .signedIn(let phone) = auth.state { phone } else { nil }
  }
  var isPaid: Bool { payment.isPaid }

  /// Does nothing for who is not signed in.
  func signOut() {
    if phone != nil { outcome.settle(.signOut) }
  }

  func close() { outcome.settle(.closed) }
}
