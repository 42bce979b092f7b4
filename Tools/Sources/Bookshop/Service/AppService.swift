/// The app's use cases: answers what comes in by starting scenarios and single operations, and does
/// nothing else.
@MainActor protocol AppService: AnyObject {
  /// Lets the reader in: when the app starts, and after signing out.
  func enter()
  /// Shows the catalogue.
  func showCatalogue()
  /// Opens a book, with what has to come before it.
  func showBook(_ id: Book.ID)
  /// Sees to it that the subscription is paid; returns whether it is.
  func pay() async -> Bool
  func showSettings()
  /// Answers a link from outside.
  func open(link: String)
  func quit()
}

final class BookshopAppService: AppService {
  private let operations: any OperationFactory
  private let scenarios: any ScenarioFactory
  private let onQuit: () -> Void

  init(
    operations: any OperationFactory, scenarios: any ScenarioFactory,
    onQuit: @escaping () -> Void
  ) {
    self.operations = operations
    self.scenarios = scenarios
    self.onQuit = onQuit
  }

  func enter() {
    Task { await scenarios.enter().launch((), self) }
  }

  func showCatalogue() {
    Task { await operations.catalogue().launch(CatalogueActions(self)) }
  }

  func showBook(_ id: Book.ID) {
    Task { await scenarios.viewBook().launch(id, self) }
  }

  func pay() async -> Bool { await scenarios.pay().launch((), self) }

  func showSettings() {
    Task { await scenarios.settings().launch((), self) }
  }

  func open(link: String) {
    Task { await scenarios.openLink().launch(link, self) }
  }

  func quit() { onQuit() }
}

@MainActor extension CatalogueActions {
  /// What a reader may do in the catalogue.
  init(_ app: any AppService) {
    self.init(
      onBook: { [weak app] in app?.showBook($0) },
      onSettings: { [weak app] in app?.showSettings() })
  }
}
