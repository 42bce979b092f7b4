public import LarderRemote

/// One call of a remote.
public enum RemoteCall: Sendable, Equatable {
  /// For the remote's facts.
  case facts
  /// For changes.
  case pull(PullRequest)
  /// With edits.
  case push(PushRequest)
  /// For the number of documents in a scope.
  case count(String)
  /// For keys and revisions.
  case manifest(ManifestRequest)
}

/// What goes wrong with a call of an ``InMemoryRemote``.
public enum RemoteFault: Sendable, Equatable {
  /// Nothing is done, and this is thrown.
  case fails(RemoteError)
  /// It is done, and the caller hears that the remote is unavailable.
  case losesAnswer
  /// It is done twice, as when a proxy sends it again; the caller has the second answer.
  case arrivesTwice
  /// It is done this much later, by the remote's clock.
  case delays(Duration)
  /// It is done at once, and answered this much later, by the remote's clock.
  case delaysAnswer(Duration)
  /// Of a push only so many mutations from the first on are done; the others are to be sent again.
  case putsOff(behind: Int)
}
