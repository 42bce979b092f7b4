/// Shows the settings, until the reader goes back or wants to sign out.
struct SettingsOp: Operation {
  let auth: any AuthService
  let payment: any PaymentService
  let router: any Router

  func launch(_ product: Product) async -> SettingsAnswer {
    let viewModel = SettingsViewModel(auth: auth, payment: payment, product: product)
    router.show(.settings(viewModel))
    let answer = await viewModel.outcome.value
    router.close(viewModel)
    return answer
  }
}
