// Three products, a factory each. A product that changes another one makes other scenarios in the
// places that it changes; no scenario, operation or service asks which product the app is.

/// Onboarding, sign-in, catalogue; whoever opens a book pays first.
class OriginalScenarios: ScenarioFactory {
  fileprivate let operations: any OperationFactory

  init(operations: any OperationFactory) { self.operations = operations }

  func enter() -> any Scenario<Void, Void> { EnterScenario(operations: operations) }
  func viewBook() -> any Scenario<Book.ID, Void> { ViewBookScenario(operations: operations) }
  func pay() -> any Scenario<Void, Bool> { PayScenario(operations: operations) }
  func settings() -> any Scenario<Void, Void> { SettingsScenario(operations: operations) }
  func openLink() -> any Scenario<String, Void> { OpenLinkScenario(operations: operations) }
}

/// The first change: a subscription at a discount is offered in the onboarding, before sign-in.
class DiscountScenarios: OriginalScenarios {
  override func enter() -> any Scenario<Void, Void> {
    EnterWithOfferScenario(operations: operations)
  }
}

/// The second change: the catalogue is open to everyone; sign-in comes before a book. The discount
/// stays.
final class OpenScenarios: DiscountScenarios {
  override func enter() -> any Scenario<Void, Void> { EnterOpenScenario(operations: operations) }
  override func viewBook() -> any Scenario<Book.ID, Void> {
    ViewBookSignedInScenario(operations: operations)
  }
}

/// The products by the names that the command line knows.
enum Product: String, CaseIterable, Sendable {
  case original, discount, open

  @MainActor func scenarios(_ operations: any OperationFactory) -> any ScenarioFactory {
    switch self {
    case .original: OriginalScenarios(operations: operations)
    case .discount: DiscountScenarios(operations: operations)
    case .open: OpenScenarios(operations: operations)
    }
  }
}
