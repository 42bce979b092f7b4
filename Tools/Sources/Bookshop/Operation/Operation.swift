/// An indivisible sequence of messages between services.
///
/// It is given services and starts no other operation; what it decides nothing about has no branch.
/// It lives until it returns.
@MainActor protocol Operation<Input, Output> {
  associatedtype Input
  associatedtype Output

  func launch(_ input: Input) async -> Output
}

extension Operation where Input == Void {
  func launch() async -> Output { await launch(()) }
}

/// Makes operations. Scenarios see this and nothing behind it.
@MainActor protocol OperationFactory: AnyObject {
  func entryStatus() -> any Operation<Void, EntryStatus>
  func onboarding() -> any Operation<Offer?, OnboardingAnswer>
  /// Input: whether the reader may go on without it. Output: whether the reader is signed in.
  func signIn() -> any Operation<Bool, Bool>
  func signOut() -> any Operation<Void, Void>
  /// Returns when the catalogue is shown no more.
  func catalogue() -> any Operation<CatalogueActions, Void>
  func book() -> any Operation<Book.ID, Void>
  func paymentStatus() -> any Operation<Void, PaymentStatus>
  /// Returns whether it is paid.
  func payWhenSignedIn() -> any Operation<Void, Bool>
  /// Returns whether it is paid.
  func payInOnboarding() -> any Operation<Void, Bool>
  func settings() -> any Operation<Void, SettingsAnswer>
  /// Nil for a link to nothing, which the reader was told.
  func resolveLink() -> any Operation<String, Book.ID?>
}

/// Makes operations of the key services, which are there after the first of them, ``makeServices()``.
final class BookshopOperations: OperationFactory {
  private var container: Services?

  private var services: Services {
    guard let container else { preconditionFailure("an operation before MakeServicesOp") }
    return container
  }

  func setServices(_ services: Services) { container = services }

  /// Makes the services that all others are given.
  func makeServices(_ scenarios: any ScenarioFactory) -> MakeServicesOp {
    MakeServicesOp(operations: self, scenarios: scenarios)
  }
  /// Links the services with each other.
  func setUpServices() -> SetUpServicesOp { SetUpServicesOp(services: services) }
  func start() -> StartOp { StartOp(router: services.router, app: services.app) }

  func entryStatus() -> any Operation<Void, EntryStatus> {
    EntryStatusOp(storage: services.storage, auth: services.auth)
  }
  func onboarding() -> any Operation<Offer?, OnboardingAnswer> {
    OnboardingOp(router: services.router, storage: services.storage)
  }
  func signIn() -> any Operation<Bool, Bool> {
    SignInOp(auth: services.auth, router: services.router)
  }
  func signOut() -> any Operation<Void, Void> { SignOutOp(auth: services.auth) }
  func catalogue() -> any Operation<CatalogueActions, Void> {
    CatalogueOp(
      catalogue: services.catalogue, sync: services.sync, router: services.router)
  }
  func book() -> any Operation<Book.ID, Void> {
    BookOp(catalogue: services.catalogue, router: services.router)
  }
  func paymentStatus() -> any Operation<Void, PaymentStatus> {
    PaymentStatusOp(auth: services.auth, payment: services.payment)
  }
  func payWhenSignedIn() -> any Operation<Void, Bool> {
    PayWhenSignedInOp(payment: services.payment, router: services.router)
  }
  func payInOnboarding() -> any Operation<Void, Bool> {
    PayInOnboardingOp(payment: services.payment, router: services.router)
  }
  func settings() -> any Operation<Void, SettingsAnswer> {
    SettingsOp(auth: services.auth, payment: services.payment, router: services.router)
  }
  func resolveLink() -> any Operation<String, Book.ID?> {
    ResolveLinkOp(catalogue: services.catalogue, router: services.router)
  }
}
