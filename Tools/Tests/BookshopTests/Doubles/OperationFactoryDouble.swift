@testable import Bookshop

/// Answers as it was told, and notes which operations it was asked for, with what.
@MainActor final class OperationFactoryDouble: OperationFactory {
  struct Answers {
    var isOnboarded = false
    var isSignedIn = false
    var tookOffer = false
    var signsIn = true
    var isPaid = false
    var signsOut = false
    var link: Book.ID?
  }

  let journal: Journal
  let answers: Answers
  private(set) var inputs: [String] = []

  init(_ journal: Journal, _ answers: Answers) {
    self.journal = journal
    self.answers = answers
  }

  private func operation<Input, Output>(
    _ name: String, _ output: Output
  ) -> any Operation<Input, Output> {
    ScriptedOperation<Input, Output>(output: output) { [self] input in
      journal.note("OperationFactory", name)
      inputs.append("\(name) \(input)")
    }
  }

  func entryStatus() -> any Operation<Void, EntryStatus> {
    operation(
      "entryStatus",
      EntryStatus(isOnboarded: answers.isOnboarded, isSignedIn: answers.isSignedIn))
  }
  func onboarding() -> any Operation<Offer?, OnboardingAnswer> {
    operation("onboarding", answers.tookOffer ? .tookOffer : .finished)
  }
  func signIn() -> any Operation<Bool, Bool> { operation("signIn", answers.signsIn) }
  func signOut() -> any Operation<Void, Void> { operation("signOut", ()) }
  func catalogue() -> any Operation<CatalogueActions, Void> { operation("catalogue", ()) }
  func book() -> any Operation<Book.ID, Void> { operation("book", ()) }
  func paymentStatus() -> any Operation<Void, PaymentStatus> {
    operation(
      "paymentStatus", PaymentStatus(isPaid: answers.isPaid, isSignedIn: answers.isSignedIn))
  }
  func payWhenSignedIn() -> any Operation<Void, Bool> { operation("payWhenSignedIn", true) }
  func payInOnboarding() -> any Operation<Void, Bool> { operation("payInOnboarding", true) }
  func settings() -> any Operation<Void, SettingsAnswer> {
    operation("settings", answers.signsOut ? .signOut : .closed)
  }
  func resolveLink() -> any Operation<String, Book.ID?> { operation("resolveLink", answers.link) }
}

private struct ScriptedOperation<Input, Output>: Operation {
  let output: Output
  let onLaunch: @MainActor (Input) -> Void

  func launch(_ input: Input) async -> Output {
    onLaunch(input)
    return output
  }
}
