enum SettingsAnswer: Sendable, Equatable {
  case closed
  case signOut
}

/// Who is signed in, and what is paid.
@MainActor protocol SettingsViewModel: ViewModel {
  /// Nil for who is not signed in.
  var phone: String? { get }
  var isPaid: Bool { get }

  /// Does nothing for who is not signed in.
  func signOut()
}

final class BookshopSettingsViewModel: SettingsViewModel {
  private let auth: any AuthService
  private let payment: any PaymentService
  var onChange: () -> Void = {}
  let outcome = Outcome<SettingsAnswer>()

  init(auth: any AuthService, payment: any PaymentService) {
    self.auth = auth
    self.payment = payment
  }

  var phone: String? {
    if case .signedIn(let phone) = auth.state { phone } else { nil }
  }
  var isPaid: Bool { payment.isPaid }

  func signOut() {
    if phone != nil { outcome.settle(.signOut) }
  }

  func close() { outcome.settle(.closed) }
}
