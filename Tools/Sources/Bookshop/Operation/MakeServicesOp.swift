internal import Larder
internal import LarderRemote
internal import LarderSync

/// The first phase: makes the key services, each with what it cannot be without.
struct MakeServicesOp {
  let operations: any OperationFactory
  let scenarios: any ScenarioFactory

  /// - Throws: `StoreError` when the store cannot be opened; `SyncError` when it has edits of another account.
  @MainActor func launch(
    _ configuration: Configuration, router: any Router, onQuit: @escaping () -> Void
  ) throws -> Services {
    let store = try Store(at: configuration.store)
    let books = store.repository(of: Book.self)
    let stars = store.repository(of: Rating.self)
    let basket = store.repository(of: BasketItem.self)
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
        books: books, stars: stars, basket: basket,
        updater: configuration.server.map { server in
          RemoteUpdater.catalogue(from: server, into: books, basket: basket, limiter: limiter)
        },
        trigger: trigger,
        firstBooks: configuration.fixture.map { FixtureImporter(file: $0, store: store) }),
      sync: EngineSync(
        engine: try configuration.reader.map { reader in
          try SyncEngine(
            store, remote: reader.remote,
            collections: [SyncedCollection(Rating.self), SyncedCollection(BasketItem.self)],
            scopes: [reader.scope], account: reader.name,
            interval: .seconds(configuration.refreshSeconds), trigger: trigger,
            clock: configuration.clock)
        }),
      router: router,
      app: BookshopAppService(
        operations: operations, scenarios: scenarios, onQuit: onQuit))
  }
}
