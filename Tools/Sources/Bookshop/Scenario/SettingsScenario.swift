/// Shows the settings; who signs out there has to be let in again.
struct SettingsScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: Void, _ app: any AppService) async {
    guard await operations.settings().launch() == .signOut else { return }
    await operations.signOut().launch()
    app.enter()
  }
}
