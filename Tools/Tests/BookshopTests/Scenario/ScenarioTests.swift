import Foundation
import Testing

@testable import Bookshop

/// Operation diagrams: which operations the factory was asked for, and which use cases of the app.
@MainActor struct ScenarioTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let launch: @MainActor @Sendable (any OperationFactory, any AppService) async -> Void
    var testDescription: String { name }
  }

  nonisolated static let cases: [Case] = [
    Case(name: "EnterScenario") { await EnterScenario(operations: $0).launch((), $1) },
    Case(name: "EnterWithOfferScenario") {
      await EnterWithOfferScenario(operations: $0).launch((), $1)
    },
    Case(name: "EnterOpenScenario") { await EnterOpenScenario(operations: $0).launch((), $1) },
    Case(name: "ViewBookScenario") { await ViewBookScenario(operations: $0).launch("a", $1) },
    Case(name: "ViewBookSignedInScenario") {
      await ViewBookSignedInScenario(operations: $0).launch("a", $1)
    },
    Case(name: "PayScenario") { _ = await PayScenario(operations: $0).launch((), $1) },
    Case(name: "SettingsScenario") { await SettingsScenario(operations: $0).launch((), $1) },
    Case(name: "OpenLinkScenario") { await OpenLinkScenario(operations: $0).launch("link", $1) },
  ]

  @Test("every scenario has its diagrams, and every diagram a scenario")
  func drawn() throws {
    #expect(
      try Set(Diagram.headings(of: "Scenario/Scenario.md")) == Set(Self.cases.map(\.name)))
    let names = try SourceFile.all(in: "Scenario").flatMap { $0.typeNames(endingWith: "Scenario") }
    #expect(Set(names) == Set(Self.cases.map(\.name)))
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

  @Test("each product makes the scenarios of the table")
  func products() throws {
    let rows = try Diagram.text("Scenario/Scenario.md").split(separator: "\n")
      .filter { $0.hasPrefix("|") }
      .map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
    #expect(rows[0] == ["product", "enter", "viewBook", "pay", "settings", "openLink"])
    #expect(rows.dropFirst(2).map(\.[0]) == Product.allCases.map(\.rawValue))
    for row in rows.dropFirst(2) {
      let product = try #require(Product(rawValue: row[0]))
      let factory = product.scenarios(OperationFactoryDouble(Journal(), .init()))
      let scenarios: [any Scenario] = [
        factory.enter(), factory.viewBook(), factory.pay(), factory.settings(), factory.openLink(),
      ]
      #expect(scenarios.map { "\(type(of: $0))" } == Array(row.dropFirst()))
    }
  }

  @Test("an offer is made, and signing in insisted on, where the product says so")
  func inputs() async {
    let offer = "onboarding Optional(Bookshop.Offer.onboarding)"
    let expected: [Product: [String]] = [
      .original: ["onboarding nil", "signIn false"], .discount: [offer, "signIn false"],
      .open: [offer],
    ]
    for product in Product.allCases {
      let operations = OperationFactoryDouble(Journal(), .init())

      await product.scenarios(operations).enter().launch((), AppServiceDouble(Journal()))

      let inputs = operations.inputs.filter { !$0.hasSuffix("()") && !$0.hasPrefix("catalogue") }
      #expect(inputs == expected[product])
    }
  }

  @Test(
    "who gives up signing in before a book may do so, and the book is the one that was asked for")
  func book() async {
    let operations = OperationFactoryDouble(Journal(), .init())
    await ViewBookSignedInScenario(operations: operations).launch("b", AppServiceDouble(Journal()))
    #expect(operations.inputs == ["entryStatus ()", "signIn true", "book b"])
  }
}
