/// Signs the reader in, or lets the reader go on without, where that is allowed.
struct SignInOp: Operation {
  let auth: any AuthService
  let router: any Router

  func launch(_ isOptional: Bool) async -> Bool {
    let viewModel = BookshopSignInViewModel(auth: auth, isOptional: isOptional)
    router.show(.signIn(viewModel))
    let isSignedIn = await viewModel.outcome.value
    router.close(viewModel)
    return isSignedIn
  }
}

struct SignOutOp: Operation {
  let auth: any AuthService

  func launch(_ input: Void) async { auth.signOut() }
}
