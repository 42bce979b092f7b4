/// Lets the reader in, as far as the catalogue.
struct EnterScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ product: Product, _ app: any AppService) async {
    let status = await operations.entryStatus().launch()
    if !status.isOnboarded {
      // The first change: an offer, and the payment before sign-in.
      let answer = await operations.onboarding().launch(product == .original ? nil : .onboarding)
      if answer == .tookOffer { _ = await app.pay() }
    }
    // The second change: the catalogue instead of sign-in.
    if product == .open {
      await operations.catalogue().launch(CatalogueActions(app))
    } else {
      if !status.isSignedIn { _ = await operations.signIn().launch(false) }
      app.showCatalogue()
    }
  }
}
