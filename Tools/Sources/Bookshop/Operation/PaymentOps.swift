/// Whether the subscription is paid, and if not, by whom it can be.
struct PaymentStatusOp: Operation {
  let auth: any AuthService
  let payment: any PaymentService

  func launch(_ input: Void) async -> PaymentStatus {
    PaymentStatus(isPaid: payment.isPaid, isSignedIn: auth.state.isSignedIn)
  }
}

/// Sells the subscription to who is signed in.
struct PayWhenSignedInOp: Operation {
  let payment: any PaymentService
  let router: any Router

  func launch(_ input: Void) async -> Bool {
    let viewModel = BookshopPaymentViewModel(payment: payment, offer: .regular)
    router.show(.payment(viewModel))
    let isPaid = await viewModel.outcome.value
    router.close(viewModel)
    return isPaid
  }
}

/// Sells the subscription to a new reader, at a discount.
struct PayInOnboardingOp: Operation {
  let payment: any PaymentService
  let router: any Router

  func launch(_ input: Void) async -> Bool {
    let viewModel = BookshopPaymentViewModel(payment: payment, offer: .onboarding)
    router.show(.payment(viewModel))
    let isPaid = await viewModel.outcome.value
    router.close(viewModel)
    return isPaid
  }
}
