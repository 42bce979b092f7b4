/// How far the reader has come.
struct EntryStatusOp: Operation {
  let storage: any Storage
  let auth: any AuthService

  func launch(_ input: Void) async -> EntryStatus {
    EntryStatus(isOnboarded: storage.isOnboarded, isSignedIn: auth.state.isSignedIn)
  }
}
