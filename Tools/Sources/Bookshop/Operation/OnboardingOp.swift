/// Greets a new reader, once.
struct OnboardingOp: Operation {
  let router: any Router
  let storage: any Storage

  func launch(_ offer: Offer?) async -> OnboardingAnswer {
    let viewModel = BookshopOnboardingViewModel(offer: offer)
    router.show(.onboarding(viewModel))
    let answer = await viewModel.outcome.value
    storage.markOnboarded()
    router.close(viewModel)
    return answer
  }
}
