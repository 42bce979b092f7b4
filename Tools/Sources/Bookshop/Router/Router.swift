internal import LarderSync

/// The one service that knows the screen, if there is any.
///
/// The others say what to show and never how: whether a screen is pushed or stands above the others
/// is decided here, from what is shown now.
@MainActor protocol Router: AnyObject {
  /// Told of links from outside.
  var onLink: (String) -> Void { get set }
  /// Told when the reader leaves.
  var onQuit: () -> Void { get set }
  /// Told when the reader is back from another window or app.
  var onReturn: () -> Void { get set }

  func setUp()
  /// Shows a screen. Where it is shown already, or takes another's place, the view model that is
  /// shown no more is closed.
  func show(_ screen: Screen)
  /// Takes the screen of a view model away; does nothing when there is none.
  func close(_ viewModel: any ViewModel)
  /// Tells the reader something, and does not wait.
  func tell(_ text: String)
}

/// What can be shown: a view model each.
enum Screen {
  case onboarding(any OnboardingViewModel)
  case signIn(any SignInViewModel)
  case payment(any PaymentViewModel)
  case catalogue(any CatalogueViewModel)
  case book(any BookViewModel)
  case settings(any SettingsViewModel)

  var viewModel: any ViewModel {
    switch self {
    case .onboarding(let viewModel): viewModel
    case .signIn(let viewModel): viewModel
    case .payment(let viewModel): viewModel
    case .catalogue(let viewModel): viewModel
    case .book(let viewModel): viewModel
    case .settings(let viewModel): viewModel
    }
  }

  @MainActor var name: ScreenName {
    switch self {
    case .onboarding: .onboarding
    case .signIn: .signIn
    case .payment: .payment
    case .catalogue: .catalogue
    case .book(let viewModel): .book(viewModel.id)
    case .settings: .settings
    }
  }
}

enum ScreenName: Equatable, Sendable, CustomStringConvertible {
  case onboarding, signIn, payment, catalogue, settings
  case book(Book.ID)

  var description: String {
    switch self {
    case .onboarding: "onboarding"
    case .signIn: "signIn"
    case .payment: "payment"
    case .catalogue: "catalogue"
    case .settings: "settings"
    case .book: "book"
    }
  }
}
