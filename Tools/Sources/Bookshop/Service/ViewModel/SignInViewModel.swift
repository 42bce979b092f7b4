/// Phone, then code.
@MainActor protocol SignInViewModel: ViewModel {
  /// Whether the reader may go on without it.
  var isOptional: Bool { get }
  /// The phone that a code was sent to; nil while one is to be given.
  var phone: String? { get }
  var secondsUntilNextCode: Int { get }
  var error: String? { get }
  var isBusy: Bool { get }

  func submit(phone: String) async
  /// Asks for another code to the same phone.
  func resend() async
  func submit(code: String) async
}

final class BookshopSignInViewModel: SignInViewModel {
  private let auth: any AuthService
  let isOptional: Bool
  private(set) var error: String?
  private(set) var isBusy = false
  var onChange: () -> Void = {}
  let outcome = Outcome<Bool>()

  init(auth: any AuthService, isOptional: Bool) {
    self.auth = auth
    self.isOptional = isOptional
  }

  var phone: String? {
    if case .awaitingCode(let phone) = auth.state { phone } else { nil }
  }
  var secondsUntilNextCode: Int { auth.secondsUntilNextCode }

  func submit(phone: String) async { await attempt { try await auth.requestCode(phone: phone) } }

  func resend() async {
    guard let phone else { return }
    await submit(phone: phone)
  }

  func submit(code: String) async {
    await attempt {
      try await auth.submit(code: code)
      outcome.settle(true)
    }
  }

  func close() {
    if isOptional { outcome.settle(false) }
  }

  /// One at a time.
  private func attempt(_ body: () async throws -> Void) async {
    guard !isBusy else { return }
    isBusy = true
    error = nil
    onChange()
    do {
      try await body()
    } catch {
      self.error = "\(error)"
    }
    isBusy = false
    onChange()
  }
}
