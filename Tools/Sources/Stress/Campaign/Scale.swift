/// How long a campaign goes on.
enum Scale: String, CaseIterable, Sendable {
  /// All campaigns in about two minutes.
  case quick
  case nightly
  case release
}
