/// How long a campaign goes on.
enum Scale: String, CaseIterable, Sendable {
  /// All campaigns in about four minutes.
  case quick
  case nightly
  case release
}
