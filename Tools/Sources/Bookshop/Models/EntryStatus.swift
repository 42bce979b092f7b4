struct EntryStatus: Sendable, Equatable {
  var isOnboarded: Bool
  var isSignedIn: Bool
}
