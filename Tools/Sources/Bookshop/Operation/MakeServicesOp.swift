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
    let limiter = FetchLimiter(
      minimumInterval: .seconds(configuration.refreshSeconds), named: "catalogue", in: store,
      clock: configuration.clock)
    return Services(
      storage: DeviceStorage(store: store),
      auth: PhoneAuthService(gateway: configuration.gateway, clock: configuration.clock),
      payment: CardPaymentService(gateway: DemoPaymentGateway()),
      catalogue: LarderCatalogue(
        store: store,
        updater: configuration.server.map { server in
          RemoteUpdater.catalogue(from: server, into: store, limiter: limiter)
        }),
      router: router,
      app: BookshopAppService(
        operations: operations, scenarios: scenarios, product: configuration.product,
        onQuit: onQuit))
  }
}
