/// A sequence of operations: the operations diagram as code.
///
/// It sees the operation factory and the app service, and no other service. It has no state: all
/// that it needs comes with `launch`.
@MainActor protocol Scenario<Input, Output> {
  associatedtype Input
  associatedtype Output

  func launch(_ input: Input, _ app: any AppService) async -> Output
}

/// Makes scenarios; the app service alone has it.
@MainActor protocol ScenarioFactory: AnyObject {
  func enter() -> any Scenario<Product, Void>
  func viewBook() -> any Scenario<(id: Book.ID, product: Product), Void>
  /// Returns whether it is paid.
  func pay() -> any Scenario<Void, Bool>
  func settings() -> any Scenario<Product, Void>
  func openLink() -> any Scenario<String, Void>
}

final class BookshopScenarios: ScenarioFactory {
  private let operations: any OperationFactory

  init(operations: any OperationFactory) { self.operations = operations }

  func enter() -> any Scenario<Product, Void> { EnterScenario(operations: operations) }
  func viewBook() -> any Scenario<(id: Book.ID, product: Product), Void> {
    ViewBookScenario(operations: operations)
  }
  func pay() -> any Scenario<Void, Bool> { PayScenario(operations: operations) }
  func settings() -> any Scenario<Product, Void> { SettingsScenario(operations: operations) }
  func openLink() -> any Scenario<String, Void> { OpenLinkScenario(operations: operations) }
}
