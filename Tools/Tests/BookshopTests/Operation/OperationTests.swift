import Testing

@testable import Bookshop

/// Message diagrams: what services are told, in this order and no other.
@MainActor @Suite(.timeLimit(.minutes(20))) struct OperationTests {
  let journal = Journal()
  let storage: StorageDouble
  let auth: AuthDouble
  let payment: PaymentDouble
  let catalogue: CatalogueDouble
  let sync: SyncDouble
  let router: RouterDouble
  let app: AppServiceDouble
  /// The errors that the reader was shown.
  private let seen = Seen()

  init() {
    storage = StorageDouble(journal)
    auth = AuthDouble(journal)
    payment = PaymentDouble(journal)
    catalogue = CatalogueDouble(journal)
    sync = SyncDouble(journal)
    router = RouterDouble(journal)
    app = AppServiceDouble(journal)
  }

  private var services: Services {
    Services(
      storage: storage, auth: auth, payment: payment, catalogue: catalogue, sync: sync,
      router: router, app: app)
  }

  private func expectDiagram(_ name: String, _ index: Int = 0) throws {
    let diagrams = try Diagram.all(name, of: "Operation/Operation.md")
    try #require(diagrams.count > index)
    try #require(!diagrams[index].messages.isEmpty)
    #expect(journal.lines == diagrams[index].messages)
  }

  @Test("every operation has a diagram, and every diagram an operation")
  func drawn() throws {
    let path = "Operation/Operation.md"
    let names = try SourceFile.all(in: "Operation").flatMap { $0.typeNames(endingWith: "Op") }
    #expect(try Set(Diagram.headings(of: path)) == Set(names))
    for name in names where name != "MakeServicesOp" {
      #expect(try !Diagram.all(name, of: path).isEmpty, "\(name)")
    }
    // The one that is drawn elsewhere is drawn there.
    #expect(try Diagram.section("MakeServicesOp", of: path).joined().contains("#creation"))
    #expect(try Diagram.creations().contains { $0.creator == "MakeServicesOp" })
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
    router.onReturn()

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

  /// The diagrams of the operations that scenarios launch.
  nonisolated static let diagrams = MessageDiagram.all(of: "Operation/Operation.md").filter {
    !["SetUpServicesOp", "StartOp"].contains($0.operation)
  }

  @Test("every message diagram is walked, arrow by arrow", arguments: diagrams)
  func walked(_ diagram: MessageDiagram) async throws {
    for (receiver, message, answer) in diagram.answers {
      let failure = answer.flatMap(failure)
      auth.failures.add(receiver, message, failure)
      payment.failures.add(receiver, message, failure)
      catalogue.failures.add(receiver, message, failure)
    }
    if diagram.input == "launch(signed in)" { auth.givenState = .signedIn(phone: "+1") }
    let input = try #require(diagram.input)

    let work = Task { try await launch(diagram.operation, input) }
    for arrow in diagram.arrows where arrow.to.hasSuffix("ViewModel") && arrow.from == "Router" {
      try await perform(arrow)
    }

    let output = try await work.value
    #expect(output == diagram.output ?? "()")
    let shown = diagram.arrows.filter { $0.to == "Router" && $0.isAnswer }.map(\.text)
    #expect(seen.texts == shown)
    #expect(journal.lines == diagram.messages)
    for screen in router.shown {
      let made = try Diagram.creations().filter { $0.creator == diagram.operation }.map(\.made)
      #expect(made == ["\(type(of: screen.viewModel))"])
    }
  }

  @Test("wrong codes, declined cards and failed refreshes are drawn")
  func failuresAreDrawn() {
    let answers = Self.diagrams.flatMap { diagram in
      diagram.arrows.filter { $0.isAnswer && $0.from.hasSuffix("Service") }
        .map { "\(diagram.operation) \($0.text)" }
    }
    #expect(
      Set(answers) == [
        "SignInOp wrongCode", "SignInOp unreachable", "CatalogueOp status 500",
        "BookOp notInCatalogue", "PayWhenSignedInOp declined", "PayInOnboardingOp declined",
      ])
  }

  private func failure(_ name: String) -> (any Error)? {
    let failures: [String: any Error] = [
      "wrongCode": AuthError.wrongCode, "unreachable": AuthError.unreachable("no network"),
      "declined": PaymentError.declined, "status 500": ServerError.status(500),
      "notInCatalogue": CatalogueError.notInCatalogue("a"),
    ]
    // An answer of a view model is what the reader sees, and no failure.
    return failures[name]
  }

  /// Launches an operation as it is drawn; returns its output.
  private func launch(_ operation: String, _ input: String) async throws -> String {
    let factory = BookshopOperations()
    factory.setServices(services)
    let actions = CatalogueActions(
      onBook: { [journal] _ in journal.note("CatalogueActions", "onBook") },
      onSettings: { [journal] in journal.note("CatalogueActions", "onSettings") })
    catalogue.isLinkDead = input == "launch(dead link)"
    switch operation {
    case "EntryStatusOp": return "\(await factory.entryStatus().launch())"
    case "OnboardingOp":
      return "\(await factory.onboarding().launch(input == "launch(offer)" ? .onboarding : nil))"
    case "SignInOp": return "\(await factory.signIn().launch(input == "launch(optional)"))"
    case "SignOutOp": return "\(await factory.signOut().launch())"
    case "CatalogueOp": return "\(await factory.catalogue().launch(actions))"
    case "BookOp": return "\(await factory.book().launch("a"))"
    case "PaymentStatusOp": return "\(await factory.paymentStatus().launch())"
    case "PayWhenSignedInOp": return "\(await factory.payWhenSignedIn().launch())"
    case "PayInOnboardingOp": return "\(await factory.payInOnboarding().launch())"
    case "SettingsOp": return "\(await factory.settings().launch())"
    case "ResolveLinkOp": return await factory.resolveLink().launch("link") ?? "nil"
    default: throw Refused()
    }
  }

  /// Does what the reader does, and looks at what the reader is shown.
  private func perform(_ arrow: MessageDiagram.Arrow) async throws {
    let screen = await router.screen()
    journal.note(arrow.to, arrow.text)
    var shown: String?
    switch (screen, arrow.text) {
    case (.onboarding(let viewModel), "next"): viewModel.next()
    case (.onboarding(let viewModel), "takeOffer"): viewModel.takeOffer()
    case (.signIn(let viewModel), "submit(phone)"):
      await viewModel.submit(phone: "+4790000000")
      shown = viewModel.error
    case (.signIn(let viewModel), "submit(code)"):
      await viewModel.submit(code: "1234")
      shown = viewModel.error
    case (.payment(let viewModel), "pay"):
      await viewModel.pay(card: "4111")
      shown = viewModel.error
    case (.catalogue(let viewModel), "find"): viewModel.find("harbour")
    case (.catalogue(let viewModel), "refresh"): await viewModel.refresh()
    case (.catalogue(let viewModel), "open"): viewModel.open("a")
    case (.catalogue(let viewModel), "openSettings"): viewModel.openSettings()
    case (.book(let viewModel), "rate"): await viewModel.rate(4)
    case (.book(let viewModel), "toggleBasket"): await viewModel.toggleBasket()
    case (.settings(let viewModel), "signOut"): viewModel.signOut()
    case (_, "close"): screen.viewModel.close()
    default: Issue.record("no reader can do this: \(arrow.text)")
    }
    if let shown { seen.texts.append(shown) }
  }
}

/// What the reader has seen so far.
@MainActor private final class Seen {
  var texts: [String] = []
}
