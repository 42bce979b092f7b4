import Testing

@testable import Bookshop

/// Operation diagrams: which operations the factory was asked for, and which use cases of the app.
@MainActor struct ScenarioTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let launch: @MainActor @Sendable (any OperationFactory, any AppService) async -> Void
    var testDescription: String { name }
  }

  nonisolated static let cases: [Case] =
    Product.allCases.flatMap { product in
      [
        Case(name: "EnterScenario \(product.rawValue)") {
          await EnterScenario(operations: $0).launch(product, $1)
        },
        Case(name: "ViewBookScenario \(product.rawValue)") {
          await ViewBookScenario(operations: $0).launch((id: "a", product: product), $1)
        },
      ]
    } + [
      Case(name: "PayScenario") { _ = await PayScenario(operations: $0).launch((), $1) },
      Case(name: "SettingsScenario") {
        await SettingsScenario(operations: $0).launch(.open, $1)
      },
      Case(name: "OpenLinkScenario") {
        await OpenLinkScenario(operations: $0).launch("link", $1)
      },
    ]

  @Test("every scenario has its diagrams, and every diagram a scenario")
  func drawn() throws {
    #expect(
      try Set(Diagram.headings(of: "Scenario/Scenario.md")) == Set(Self.cases.map(\.name)))
    let names = try SourceFile.all(in: "Scenario").flatMap { $0.typeNames(endingWith: "Scenario") }
    #expect(Set(names) == Set(Self.cases.map { String($0.name.split(separator: " ")[0]) }))
  }

  @Test("every drawn way is gone, step by step", arguments: cases)
  func ways(_ scenario: Case) async throws {
    let ways = try Flowchart(scenario.name).ways
    #expect(!ways.isEmpty)
    for way in ways {
      let words = way.conditions
      var answers = OperationFactoryDouble.Answers()
      answers.isOnboarded = !words.contains("new reader")
      answers.isSignedIn = words.contains("signed in")
      answers.tookOffer = words.contains("took offer")
      answers.signsIn = !words.contains("gives up")
      answers.isPaid = words.contains("paid")
      answers.signsOut = words.contains("signs out")
      answers.link = words.contains("a book") ? "a" : nil
      let steps = await steps(of: scenario, answers, isPaid: !words.contains("declines"))
      #expect(steps == way.steps, "\(words)")
    }
  }

  @Test("whatever is answered, no way is gone that is not drawn", arguments: cases)
  func noOtherWays(_ scenario: Case) async throws {
    let drawn = try Set(Flowchart(scenario.name).ways.map(\.steps))
    var gone: Set<[String]> = []
    for bits in 0..<256 {
      func bit(_ index: Int) -> Bool { bits & (1 << index) != 0 }
      let answers = OperationFactoryDouble.Answers(
        isOnboarded: bit(0), isSignedIn: bit(1), tookOffer: bit(2), signsIn: bit(3),
        isPaid: bit(4), signsOut: bit(5), link: bit(6) ? "a" : nil)
      // Nobody is offered anything in the original product.
      if scenario.name == "EnterScenario original", answers.tookOffer { continue }
      gone.insert(await steps(of: scenario, answers, isPaid: bit(7)))
    }
    #expect(gone == drawn)
  }

  private func steps(
    of scenario: Case, _ answers: OperationFactoryDouble.Answers, isPaid: Bool
  ) async -> [String] {
    let journal = Journal()
    let app = AppServiceDouble(journal)
    app.isPaid = isPaid
    await scenario.launch(OperationFactoryDouble(journal, answers), app)
    return journal.lines
  }

  @Test("each product offers what it is to, and insists on signing in where it is to")
  func inputs() async {
    let expected: [Product: [String]] = [
      .original: ["onboarding nil", "signIn false"],
      .discount: ["onboarding Optional(Bookshop.Offer.onboarding)", "signIn false"],
      .open: ["onboarding Optional(Bookshop.Offer.onboarding)"],
    ]
    for product in Product.allCases {
      let operations = OperationFactoryDouble(Journal(), .init())
      let app = AppServiceDouble(Journal())

      await EnterScenario(operations: operations).launch(product, app)

      let inputs = operations.inputs.filter { !$0.hasSuffix("()") && !$0.hasPrefix("catalogue") }
      #expect(inputs == expected[product])
    }
  }

  @Test(
    "who gives up signing in before a book may do so, and the book is the one that was asked for")
  func book() async {
    let operations = OperationFactoryDouble(Journal(), .init())
    await ViewBookScenario(operations: operations).launch(
      (id: "b", product: .open), AppServiceDouble(Journal()))
    #expect(operations.inputs == ["entryStatus ()", "signIn true", "book b"])
  }
}
