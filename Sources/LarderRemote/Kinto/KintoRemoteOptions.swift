/// Limits and choices of a ``KintoRemote``.
public struct KintoRemoteOptions: Sendable, Equatable {
  /// Limits of the requests. `takesHints` and `longestSilence` mean nothing here: Kinto gives no hints.
  public var http = HTTPRemoteOptions()

  /// How far back each pull begins before the last one.
  ///
  /// Kinto's times do not have the order in which PostgreSQL commits. With an overlap that is longer than any request of
  /// a writer takes, nothing is missed. What comes a second time is not written again. After a change a second reading
  /// follows once so long has passed. `Duration.zero` is right for one Kinto process with one thread and the memory
  /// backend, and nothing else.
  public var overlap = Duration.seconds(15)

  /// Whether a bucket or a collection that is missing is made by the first user who needs it, and who owns it then.
  /// Without it a missing bucket is forbidden, as Kinto says of one. A missing collection is empty then for who may read the
  /// bucket, and forbidden for others, and to send an edit of it is forbidden.
  public var createsMissing = true

  /// The defaults fit Kinto on PostgreSQL.
  public init() {}
}
