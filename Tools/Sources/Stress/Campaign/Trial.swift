import Foundation

/// One run of a campaign: unbroken, or with one thing broken on purpose.
struct Trial: Sendable {
  let scale: Scale
  let seed: UInt64
  let mutation: Mutation?
  /// An empty folder of its own, which is kept if the campaign fails.
  let folder: URL
  let progress: Progress
  /// Of the command line; nil for the scale's.
  var wantedCycles: Int?

  /// How many cycles to run. A mutant has its own number: enough for it to be caught surely.
  func cycles(quick: Int, nightly: Int, release: Int, mutant: Int) -> Int {
    if mutation != nil { return mutant }
    if let wantedCycles { return wantedCycles }
    switch scale {
    case .quick: return quick
    case .nightly: return nightly
    case .release: return release
    }
  }

  /// The randomness of a part, which does not depend on how much another part has used.
  func generator(_ part: Int) -> SeededGenerator {
    SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: part) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// Starts another process of this program; see ``Worker``.
  func start(_ role: String, _ arguments: String..., environment: [String: String] = [:]) throws
    -> ChildProcess
  {
    var environment = environment
    environment.merge(mutation?.environment ?? [:]) { _, new in new }
    return try ChildProcess([CommandLine.executable, "worker", role] + arguments, environment)
  }
}

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
