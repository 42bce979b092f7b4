/// The second phase: the services are there, and now they hear each other. Launched once, before
/// anything else.
struct SetUpServicesOp {
  let services: Services

  @MainActor func launch(_ configuration: Configuration) {
    services.storage.onFailure = services.router.tell
    services.catalogue.onFailure = services.router.tell
    services.auth.restore(token: services.storage.token, lastCode: services.storage.lastCode)
    services.payment.restore(receipt: services.storage.receipt)
    services.auth.onToken = services.storage.save(token:)
    services.auth.onCodeSent = services.storage.save(lastCode:)
    services.payment.onReceipt = services.storage.save(receipt:)
    services.router.onLink = services.app.open(link:)
    services.router.onQuit = services.app.quit
    services.router.onReturn = services.catalogue.comeBack
    configuration.gateway.onSMS = services.router.tell
    services.catalogue.fill()
    services.sync.start()
  }
}

/// The app begins.
struct StartOp {
  let router: any Router
  let app: any AppService

  @MainActor func launch() {
    router.setUp()
    app.enter()
  }
}
