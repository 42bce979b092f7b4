/// Shows the settings, until the reader goes back or wants to sign out.
struct SettingsOp: Operation {
  let auth: any AuthService
  let payment: any PaymentService
  let router: any Router

  func launch(_ input: Void) async -> SettingsAnswer {
    let viewModel = BookshopSettingsViewModel(auth: auth, payment: payment)
    router.show(.settings(viewModel))
    let answer = await viewModel.outcome.value
    router.close(viewModel)
    return answer
  }
}
