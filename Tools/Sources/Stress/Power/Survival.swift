/// Chooses what of that which was under way reached the disk before the power went.
struct Survival {
  private enum Kind: CaseIterable {
    case nothing, everything, last, upTo, each, few, most, allButOne
  }

  private var random: SeededGenerator
  private let kind: Kind
  private let tears: Bool
  /// The change that `kind` speaks of.
  private var one = 0

  init(_ random: SeededGenerator) {
    self.random = random
    kind = Kind.allCases.randomElement(using: &self.random) ?? .each
    tears = Bool.random(using: &self.random)
  }

  /// Told when each change was made that may be lost.
  mutating func prepare(_ times: [Int]) {
    one = (kind == .last ? times.max() : times.sorted().randomElement(using: &random)) ?? 0
  }

  mutating func keeps(_ time: Int) -> Bool {
    switch kind {
    case .nothing: false
    case .everything: true
    case .last: time == one
    case .upTo: time <= one
    case .allButOne: time != one
    case .each: Bool.random(using: &random)
    case .few: Int.random(in: 0..<8, using: &random) == 0
    case .most: Int.random(in: 0..<8, using: &random) != 0
    }
  }

  /// How large the sectors are of which a write lost some; nil for one that is whole.
  mutating func tear() -> Int? {
    guard tears, Int.random(in: 0..<3, using: &random) == 0 else { return nil }
    return Bool.random(using: &random) ? 512 : 4096
  }

  mutating func keepsSector() -> Bool { Bool.random(using: &random) }
}
