/// A sequence of operations: the operations diagram as code.
///
/// It sees the operation factory and the app service, and no other service. It has no state: all
/// that it needs comes with `launch`.
@MainActor protocol Scenario<Input, Output> {
  associatedtype Input
  associatedtype Output

  func launch(_ input: Input, _ app: any AppService) async -> Output
}

/// Makes scenarios; the app service alone has it. Which product the app is depends on which factory
/// it was given, and on nothing else.
@MainActor protocol ScenarioFactory: AnyObject {
  func enter() -> any Scenario<Void, Void>
  func viewBook() -> any Scenario<Book.ID, Void>
  /// Returns whether it is paid.
  func pay() -> any Scenario<Void, Bool>
  func settings() -> any Scenario<Void, Void>
  func openLink() -> any Scenario<String, Void>
}
