/// What a campaign saw.
struct Tally: Sendable {
  var cycles = 0
  /// Writes that the library said are kept.
  var acked = 0
  /// Acknowledged writes that were gone.
  var lost = 0
  /// What was seen and never written, or heard of and never committed.
  var phantom = 0
  /// Stores, documents or pages that were not sound, and nobody said so.
  var corrupt = 0
  /// Processes that a signal ended which nobody sent.
  var signals = 0
  /// What else this campaign counts, for the closing line: `stalls=0`.
  var more: [(name: String, count: Int)] = []
  /// What was promised and did not hold, each with its place; the first is enough to fail.
  var faults: [String] = []

  var isClean: Bool { faults.isEmpty && lost + phantom + corrupt + signals == 0 }

  /// Adds what another part of the same campaign saw.
  mutating func add(_ other: Tally) {
    cycles += other.cycles
    acked += other.acked
    lost += other.lost
    phantom += other.phantom
    corrupt += other.corrupt
    signals += other.signals
    for (name, count) in other.more { self.count(name, count) }
    faults += other.faults
  }

  /// Adds to a count of this campaign's own.
  mutating func count(_ name: String, _ count: Int = 1) {
    if let index = more.firstIndex(where: { $0.name == name }) {
      more[index].count += count
    } else {
      more.append((name, count))
    }
  }

  /// Notes what did not hold, and counts it; an empty name counts nothing.
  mutating func fault(_ count: String, _ text: String) {
    switch count {
    case "": break
    case "lost": lost += 1
    case "phantom": phantom += 1
    case "corrupt": corrupt += 1
    case "signals": signals += 1
    default: self.count(count)
    }
    faults.append(text)
  }

  /// The figures of the closing line.
  var figures: String {
    var words = [
      "cycles=\(cycles)", "acked=\(acked)", "lost=\(lost)", "phantom=\(phantom)",
      "corrupt=\(corrupt)", "signals=\(signals)",
    ]
    words += more.map { "\($0.name)=\($0.count)" }
    return words.joined(separator: " ")
  }
}
