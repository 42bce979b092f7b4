internal import Larder
internal import LarderSync

/// The first phase: makes the key services, each with what it cannot be without.
struct MakeServicesOp {
  let operations: any OperationFactory
  let scenarios: any ScenarioFactory

  /// - Throws: `StoreError` when the store cannot be opened.
  @MainActor func launch(
    _ configuration: Configuration, router: any Router, onQuit: @escaping () -> Void
  ) throws -> Services {
    let store = try Store(at: configuration.store)
    let books = store.repository(of: Book.self)
    let trigger = RefreshTrigger()
    let limiter = FetchLimiter(
      minimumInterval: .seconds(configuration.refreshSeconds), named: "catalogue", in: store,
      trigger: trigger, clock: configuration.clock)
    return Services(
      storage: DeviceStorage(
        states: store.repository(of: DeviceState.self),
        keychain: FileKeychain(folder: configuration.keychain)),
      auth: PhoneAuthService(gateway: configuration.gateway, clock: configuration.clock),
      payment: CardPaymentService(gateway: DemoPaymentGateway()),
      catalogue: LarderCatalogue(
        books: books, stars: store.repository(of: Rating.self),
        updater: configuration.server.map { server in
          RemoteUpdater.catalogue(from: server, into: books, limiter: limiter)
        },
        trigger: trigger,
        firstBooks: configuration.fixture.map { FixtureImporter(file: $0, store: store) }),
      router: router,
      app: BookshopAppService(
        operations: operations, scenarios: scenarios, onQuit: onQuit))
  }
}
