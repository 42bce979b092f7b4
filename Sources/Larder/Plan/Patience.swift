/// Decides whether a way along an index goes on: where few documents on it match, to find them all and sort
/// them costs less.
///
/// One entry in 32 is looked at before that is asked for the first time, so that a retreat costs about a
/// tenth of what it leads to.
struct Patience: ~Copyable {
  private let retreat: Plan.Retreat
  private let wanted: Int
  private var nextQuestion: Int
  private var examined = 0
  /// Documents that have matched.
  private(set) var matched = 0
  private(set) var isLost = false

  init(_ retreat: Plan.Retreat, wanted: Int) {
    self.retreat = retreat
    self.wanted = wanted
    nextQuestion = max(16, retreat.entryCount / 32)
  }

  mutating func match() { matched += 1 }

  /// Counts an entry; false where it is better to give up.
  mutating func goesOn() -> Bool {
    examined += 1
    if examined < nextQuestion { return true }
    nextQuestion *= 2
    let left = Double(max(0, retreat.entryCount - examined))
    let rate = Double(matched) / Double(examined)
    let needed = matched == 0 ? left : min(left, Double(max(0, wanted - matched)) / rate)
    let other = retreat.cost + rate * Double(retreat.entryCount) * Planner.sortCost
    isLost = needed * Planner.fetchCost > other
    return !isLost
  }
}
