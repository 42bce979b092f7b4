import Testing

@testable import Bookshop

/// Message diagrams: what services are told, in this order and no other.
@MainActor @Suite(.timeLimit(.minutes(1))) struct OperationTests {
  let journal = Journal()
  let storage: StorageDouble
  let auth: AuthDouble
  let payment: PaymentDouble
  let catalogue: CatalogueDouble
  let router: RouterDouble
  let app: AppServiceDouble

  init() {
    storage = StorageDouble(journal)
    auth = AuthDouble(journal)
    payment = PaymentDouble(journal)
    catalogue = CatalogueDouble(journal)
    router = RouterDouble(journal)
    app = AppServiceDouble(journal)
  }

  private var services: Services {
    Services(
      storage: storage, auth: auth, payment: payment, catalogue: catalogue, router: router,
      app: app)
  }

  private func expectDiagram(_ name: String, _ index: Int = 0) throws {
    let diagrams = try Diagram.all(name, of: "Operation/Operation.md")
    try #require(diagrams.count > index)
    try #require(!diagrams[index].messages.isEmpty)
    #expect(journal.lines == diagrams[index].messages)
  }

  @Test("every operation has a diagram, and every diagram an operation")
  func drawn() throws {
    let names = try SourceFile.all(in: "Operation").flatMap { $0.typeNames(endingWith: "Op") }
    #expect(try Set(Diagram.headings(of: "Operation/Operation.md")) == Set(names))
  }

  @Test("services are linked in the drawn order")
  func setUpServices() throws {
    SetUpServicesOp(services: services).launch(
      Configuration(store: "", gateway: DemoAuthGateway(fixedCode: nil)))
    try expectDiagram("SetUpServicesOp")
  }

  @Test("the links that are made lead where they are drawn to")
  func links() throws {
    let gateway = DemoAuthGateway(fixedCode: nil)
    SetUpServicesOp(services: services).launch(Configuration(store: "", gateway: gateway))
    let made = journal.lines.count

    auth.onToken(nil)
    auth.onCodeSent(nil)
    payment.onReceipt("r")
    storage.onFailure("f")
    catalogue.onFailure("f")
    router.onLink("l")
    router.onQuit()

    let diagram = try Diagram.all("SetUpServicesOp", of: "Operation/Operation.md")[1]
    #expect(Array(journal.lines.dropFirst(made)) == diagram.messages)
    gateway.sendCode(phone: "+1")
    #expect(journal.lines.last == "Router: tell")
  }

  @Test("the app starts in the drawn order")
  func start() throws {
    StartOp(router: router, app: app).launch()
    try expectDiagram("StartOp")
  }

  @Test("the entry status is asked for in the drawn order")
  func entryStatus() async throws {
    auth.givenState = .signedIn(phone: "+1")
    let status = await EntryStatusOp(storage: storage, auth: auth).launch()
    #expect(status == EntryStatus(isOnboarded: false, isSignedIn: true))
    try expectDiagram("EntryStatusOp")
  }

  @Test("a new reader is greeted in the drawn order")
  func onboarding() async throws {
    let work = Task { await OnboardingOp(router: router, storage: storage).launch(nil) }
    guard case .onboarding(let viewModel) = await router.screen() else { throw Refused() }

    for _ in 0..<2 {
      journal.note("OnboardingViewModel", "next")
      viewModel.next()
    }

    #expect(await work.value == .finished)
    try expectDiagram("OnboardingOp")
  }

  @Test("an offer that is taken is the answer of the onboarding")
  func offer() async throws {
    let work = Task { await OnboardingOp(router: router, storage: storage).launch(.onboarding) }
    guard case .onboarding(let viewModel) = await router.screen() else { throw Refused() }

    viewModel.takeOffer()
    viewModel.next()
    viewModel.next()
    viewModel.takeOffer()

    #expect(await work.value == .tookOffer)
  }

  @Test("a reader signs in in the drawn order")
  func signIn() async throws {
    let work = Task { await SignInOp(auth: auth, router: router).launch(false) }
    guard case .signIn(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("SignInViewModel", "submit(phone)")
    await viewModel.submit(phone: "+4790000000")
    viewModel.close()
    journal.note("SignInViewModel", "submit(code)")
    await viewModel.submit(code: "1234")

    #expect(await work.value)
    try expectDiagram("SignInOp")
  }

  @Test("a reader goes on without signing in in the drawn order")
  func signInRefused() async throws {
    let work = Task { await SignInOp(auth: auth, router: router).launch(true) }
    guard case .signIn(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("SignInViewModel", "close")
    viewModel.close()

    #expect(await !work.value)
    try expectDiagram("SignInOp", 1)
  }

  @Test("a reader signs out in the drawn order")
  func signOut() async throws {
    await SignOutOp(auth: auth).launch()
    try expectDiagram("SignOutOp")
  }

  @Test("the catalogue is looked at in the drawn order")
  func lookAtCatalogue() async throws {
    catalogue.failure = Refused()
    let actions = CatalogueActions(
      onBook: { [journal] _ in journal.note("CatalogueActions", "onBook") },
      onSettings: { [journal] in journal.note("CatalogueActions", "onSettings") })
    let work = Task {
      await CatalogueOp(catalogue: catalogue, router: router).launch(actions)
    }
    guard case .catalogue(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("CatalogueViewModel", "find")
    viewModel.find("harbour")
    journal.note("CatalogueViewModel", "refresh")
    await viewModel.refresh()
    journal.note("CatalogueViewModel", "open")
    viewModel.open("a")
    journal.note("CatalogueViewModel", "openSettings")
    viewModel.openSettings()
    journal.note("CatalogueViewModel", "close")
    viewModel.close()

    await work.value
    try expectDiagram("CatalogueOp")
  }

  @Test("a book is looked at in the drawn order")
  func lookAtBook() async throws {
    let work = Task { await BookOp(catalogue: catalogue, router: router).launch("a") }
    guard case .book(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("BookViewModel", "rate")
    await viewModel.rate(4)
    catalogue.failure = Refused()
    journal.note("BookViewModel", "toggleBasket")
    await viewModel.toggleBasket()
    journal.note("BookViewModel", "close")
    viewModel.close()

    await work.value
    try expectDiagram("BookOp")
  }

  @Test("the payment status is asked for in the drawn order")
  func paymentStatus() async throws {
    let status = await PaymentStatusOp(auth: auth, payment: payment).launch()
    #expect(status == .unpaid(isSignedIn: false))
    try expectDiagram("PaymentStatusOp")
  }

  @Test("the subscription is paid in the drawn order, at the price of the occasion")
  func pay() async throws {
    let work = Task { await PayWhenSignedInOp(payment: payment, router: router).launch() }
    guard case .payment(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("PaymentViewModel", "pay")
    await viewModel.pay(card: "4111")

    #expect(await work.value)
    try expectDiagram("PayWhenSignedInOp")
  }

  @Test("the subscription is paid in the onboarding in the drawn order")
  func payInOnboarding() async throws {
    let work = Task { await PayInOnboardingOp(payment: payment, router: router).launch() }
    guard case .payment(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("PaymentViewModel", "pay")
    await viewModel.pay(card: "4111")

    #expect(await work.value)
    try expectDiagram("PayInOnboardingOp")
  }

  @Test("the settings are looked at in the drawn order")
  func settings() async throws {
    auth.givenState = .signedIn(phone: "+1")
    let work = Task {
      await SettingsOp(auth: auth, payment: payment, router: router).launch(.open)
    }
    guard case .settings(let viewModel) = await router.screen() else { throw Refused() }

    journal.note("SettingsViewModel", "signOut")
    viewModel.signOut()

    #expect(await work.value == .signOut)
    try expectDiagram("SettingsOp")
  }

  @Test("a link is resolved in the drawn order")
  func link() async throws {
    let id = await ResolveLinkOp(catalogue: catalogue, router: router).launch("bookshop://book/a")
    #expect(id == "a")
    try expectDiagram("ResolveLinkOp")
  }
}
