/// Lets the reader in: onboarding for who is new, sign-in, catalogue.
struct EnterScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: Void, _ app: any AppService) async {
    let status = await operations.entryStatus().launch()
    if !status.isOnboarded { _ = await operations.onboarding().launch(nil) }
    if !status.isSignedIn { _ = await operations.signIn().launch(false) }
    app.showCatalogue()
  }
}

/// Lets the reader in, with an offer in the onboarding that can be paid before signing in.
struct EnterWithOfferScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: Void, _ app: any AppService) async {
    let status = await operations.entryStatus().launch()
    if !status.isOnboarded, await operations.onboarding().launch(.onboarding) == .tookOffer {
      _ = await app.pay()
    }
    if !status.isSignedIn { _ = await operations.signIn().launch(false) }
    app.showCatalogue()
  }
}

/// Lets the reader into the catalogue without signing in; the offer is in the onboarding.
struct EnterOpenScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: Void, _ app: any AppService) async {
    let status = await operations.entryStatus().launch()
    if !status.isOnboarded, await operations.onboarding().launch(.onboarding) == .tookOffer {
      _ = await app.pay()
    }
    await operations.catalogue().launch(CatalogueActions(app))
  }
}
