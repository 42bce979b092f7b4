import Foundation
import Larder

/// Campaign 9: an app publishes and collects letters, is stopped and killed at any moment, and so is an
/// extension that posts. A widget never reads half of anything, and each letter arrives once.
struct PublishCampaign: Campaign {
  static let name = "publish"
  static let summary =
    "published stores are never torn, and letters arrive once, through SIGSTOP and kill -9"
  static let mutants: [Mutation] = [
    .library("published-in-place"),
    .library("letters-unnoted"),
    .library("letters-removed-first"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    let scratch = try Scratch("publish-\(trial.mutation?.name ?? "")")
    var run = try PublishRun(trial, scratch.url)
    defer { if !run.tally.isClean, trial.mutation == nil { try? scratch.keep(in: trial.folder) } }
    try run.run()
    return run.tally
  }
}

struct PublishRun {
  var tally = Tally()
  private let trial: Trial
  private let folders: PublishFolders
  private var generator: SeededGenerator
  private var acknowledged: Set<String> = []
  private var names = 0

  init(_ trial: Trial, _ base: URL) throws {
    self.trial = trial
    folders = PublishFolders(base: base)
    generator = trial.generator(9)
    for name in ["kills", "stops", "letters", "duplicates"] { tally.count(name, 0) }
    let store = try Store(at: folders.store)
    try store.repository(of: Tile.self).save(Tile.all(of: 0))
    try store.publish(Tile.all, to: folders.published)
    try store.close()
  }

  /// A cycle is one publication.
  mutating func run() throws {
    let cycles = trial.cycles(quick: 150, nightly: 10_000, release: 10_000, mutant: 3_000)
    let widget = try trial.start(PublishWidget.role, folders.base.path)
    _ = try widget.expect("open")
    while tally.cycles < cycles, tally.isClean {
      try attack(widget)
      trial.progress.report("publish: \(tally.cycles) of \(cycles)")
    }
    widget.kill()
    try settle()
  }

  /// Lets the app and an extension go on for a while, and kills them.
  private mutating func attack(_ widget: ChildProcess) throws {
    names += 1
    let app = try trial.start(PublishApp.role, folders.base.path)
    let other = try trial.start(PublishExtension.role, folders.base.path, "\(names)")
    _ = try app.expect("open")
    let pauses = Int.random(in: 1...4, using: &generator)
    for _ in 0..<pauses {
      usleep(UInt32.random(in: 0...40_000, using: &generator))
      let stopped = [app, other].randomElement(using: &generator) ?? app
      kill(stopped.id, SIGSTOP)
      tally.count("stops")
      ask(widget)
      kill(stopped.id, SIGCONT)
      guard tally.isClean else { break }
    }
    if Bool.random(using: &generator) {
      waitForRemoval(app)
    } else {
      usleep(UInt32.random(in: 0...20_000, using: &generator))
    }
    for process in [app, other].shuffled(using: &generator) {
      process.kill()
      tally.count("kills")
    }
    ask(widget)
    for line in app.lines() {
      if line.hasPrefix("published ") { tally.cycles += 1 } else { fail(line) }
    }
    for line in other.lines() {
      guard line.hasPrefix("posted ") else { return fail(line) }
      tally.count("letters")
      acknowledged.formUnion(line.dropFirst("posted ".count).split(separator: " ").map(String.init))
    }
    // What was posted by a process that was killed may not have been said, and may be there.
    if names.isMultiple(of: 8) { try settle() }
  }

  /// Lets letters pile up, and returns when the first of them is removed: a moment that no random pause
  /// would meet.
  private mutating func waitForRemoval(_ app: ChildProcess) {
    kill(app.id, SIGSTOP)
    usleep(UInt32.random(in: 50_000...200_000, using: &generator))
    kill(app.id, SIGCONT)
    var most = 0
    _ = waits(seconds: 2) {
      let count = (try? folders.mailbox.letters().count) ?? 0
      most = max(most, count)
      return count < most
    }
    app.kill()
  }

  private mutating func ask(_ widget: ChildProcess) {
    widget.say()
    guard let line = widget.line() else {
      tally.signals += 1
      return tally.faults.append("the widget ended, or was silent")
    }
    if !line.hasPrefix("round ") { fail(line) }
  }

  private mutating func fail(_ line: String) {
    if line.contains("torn") { tally.corrupt += 1 }
    tally.faults.append(line)
  }

  /// Collects what waits, and looks whether each parcel arrived once.
  private mutating func settle() throws {
    let store = try Store(at: folders.store)
    try folders.collect(store)
    let arrivals = try store.repository(of: Arrival.self).fetch(Arrival.all)
    let counts = Dictionary(uniqueKeysWithValues: arrivals.map { ($0.id, $0.count) })
    for id in acknowledged where counts[id] == nil {
      tally.lost += 1
      tally.faults.append("the parcel \(id) was posted and never arrived")
    }
    for arrival in arrivals where arrival.count > 1 {
      tally.count("duplicates")
      tally.faults.append(
        arrival.count >= 1000
          ? "the parcel \(arrival.id) is not whole"
          : "the parcel \(arrival.id) arrived \(arrival.count) times")
    }
    // Both parcels of a letter, or none.
    for id in counts.keys where id.hasSuffix("a") && counts[id.dropLast() + "b"] == nil {
      tally.faults.append("of the letter of \(id) one half arrived")
    }
    tally.acked = acknowledged.count
    try store.close()
  }
}
