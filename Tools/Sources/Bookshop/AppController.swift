/// The app without a screen: makes what there is, links it, and lets it go.
@MainActor final class AppController {
  private let operations = BookshopOperations()
  /// Settled when the reader has left.
  let outcome = Outcome<Void>()

  /// - Throws: `StoreError` when the store cannot be opened.
  func start(_ configuration: Configuration, router: any Router) throws {
    let scenarios = configuration.product.scenarios(operations)
    let services = try operations.makeServices(scenarios).launch(
      configuration, router: router, onQuit: { [outcome] in outcome.settle(()) })
    operations.setServices(services)
    operations.setUpServices().launch(configuration)
    operations.start().launch()
  }
}
