import Foundation

/// One promise of the library under attack.
protocol Campaign: Sendable {
  /// As on the command line and in the closing line.
  static var name: String { get }
  /// What is promised and how it is attacked, in one line.
  static var summary: String { get }
  /// What is broken on purpose before the campaign itself; each must be caught.
  static var mutants: [Mutation] { get }
  /// What this machine lacks for it, and nil where it can run.
  static func obstacle() -> String?
  /// Ends what ``obstacle()`` has begun.
  static func end()

  init()

  /// Attacks until as many cycles are through as the trial's scale asks for, or until the first
  /// fault.
  ///
  /// - Throws: What keeps the attack itself from going on. A promise that was broken is no error
  ///   but a part of the tally.
  func run(_ trial: Trial) throws -> Tally
}

extension Campaign {
  static func obstacle() -> String? { nil }
  static func end() {}
}

/// The campaigns by their names, in the order in which `all` runs them.
let campaigns: [any Campaign.Type] = [
  KillCampaign.self, PowerCampaign.self, HistoryCampaign.self, FileSystemCampaign.self,
  CorruptCampaign.self, FaultCampaign.self, FullCampaign.self, EnvironmentCampaign.self,
  SyncCampaign.self,
  PublishCampaign.self,
]

/// Something broken on purpose, told to the processes of a trial by their environment.
struct Mutation: Sendable {
  let name: String
  let environment: [String: String]

  /// What is broken on purpose may crash, and nobody wants to read where.
  private static let silent = ["SWIFT_BACKTRACE": "enable=no"]

  /// A guard of the library, which must be built with its mutants.
  static func library(_ name: String) -> Mutation {
    Mutation(name: name, environment: ["LARDER_MUTANT": name].merging(silent) { $1 })
  }

  /// A process of the campaign that does what it must not.
  static func worker(_ name: String) -> Mutation {
    Mutation(name: name, environment: ["STRESS_MUTANT": name].merging(silent) { $1 })
  }

  /// Whether this process is to do wrong in that way.
  static func isOn(_ name: String) -> Bool { current == name }

  private static let current = getenv("STRESS_MUTANT").map { String(cString: $0) }
}
