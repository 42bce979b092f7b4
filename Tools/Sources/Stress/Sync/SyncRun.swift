import Foundation

/// One seed of the sync campaign: who is killed when, and what must be there in the end.
final class SyncRun {
  private let trial: Trial
  private let number: Int
  private let server: SyncServer
  private let folder: URL
  private let scope: String
  private let token: String
  private var generator: SeededGenerator
  private var seats: [SyncSeat] = []
  /// Who was killed, in order.
  private var killed: [String] = []
  var tally = Tally()

  private static let clientCount = 4

  init(_ trial: Trial, _ number: Int, _ server: SyncServer, in folder: URL) throws {
    self.trial = trial
    self.number = number
    self.server = server
    self.folder = folder
    scope = "s\(trial.mutation?.name ?? "")-\(number)-\(getpid())"
    token = try server.token(scope: scope)
    generator = trial.generator(number)
    seats = (0..<Self.clientCount).map { SyncSeat($0, in: folder) }
  }

  /// Ends every client.
  func end() { for seat in seats { seat.child?.kill() } }

  func run() throws {
    tally.cycles = 1
    for seat in seats { try start(seat, "edits") }
    // One process of each kind of server, and clients besides, in any order.
    var turns =
      (0..<4).map { _ in Victim.client } + [
        .http, Bool.random(using: &generator) ? .postgres : .backend,
      ]
    turns.shuffle(using: &generator)
    for victim in turns where tally.isClean {
      try attack(victim)
      tally.count("killed")
    }
    try server.finish()
    if tally.isClean { try settle() }
    guard tally.isClean else { return }
    // Somebody who has nothing yet gets what the server has.
    let newcomer = SyncSeat(seats.count, in: folder)
    seats.append(newcomer)
    try start(newcomer, "waits")
    try becomeEqual([newcomer])
    guard tally.isClean else { return }
    for seat in seats { try finish(seat) }
    let audit = SyncAudit(seats.map(\.store), scope: scope)
    var seen = try audit.run(acknowledged: seats.map(\.acknowledged))
    seen.faults = seen.faults.map { "seed \(number), \(story): \($0)" }
    tally.add(seen)
  }

  private func fault(_ count: String, _ text: String) {
    tally.fault(count, "seed \(number), \(story): \(text)")
  }

  private var story: String { "killed " + killed.joined(separator: ", ") }

  // MARK: Killing

  private enum Victim { case client, http, postgres, backend }

  private func attack(_ victim: Victim) throws {
    // Somebody works when it happens.
    let seat = seats[Int.random(in: 0..<seats.count, using: &generator)]
    guard try seat.hears(Int.random(in: 1...4, using: &generator)) else {
      return fault("", "client \(seat.number) edited nothing for a minute")
    }
    usleep(UInt32.random(in: 0..<30_000, using: &generator))
    switch victim {
    case .client:
      killed.append("client \(seat.number)")
      kill(seat)
      try start(seat, "edits")
    case .http:
      let process = Int.random(in: 0..<server.urls.count, using: &generator)
      killed.append("HTTP process \(process)")
      try server.begin("kill-http \(process)")
      try server.begin("start-http \(process)")
    case .postgres:
      killed.append("PostgreSQL")
      try server.begin("kill-postgres")
      try server.begin("start-postgres")
    case .backend:
      killed.append("a process of PostgreSQL")
      try server.begin("kill-backend")
    }
  }

  private func start(_ seat: SyncSeat, _ duty: String) throws {
    seat.startCount += 1
    let url = server.urls[Int.random(in: 0..<server.urls.count, using: &generator)]
    let seed = UInt64.random(in: 0 ... .max, using: &generator)
    let child = try trial.start(
      SyncClient.role, seat.store.path, url.absoluteString, token, scope,
      "\(seat.number)-\(seat.startCount)", String(seed), duty)
    seat.child = child
  }

  private func kill(_ seat: SyncSeat) {
    guard let child = seat.child else { return }
    seat.child = nil
    Foundation.kill(child.id, SIGKILL)
    let status = child.wait()
    for line in child.lines() { seat.note(line) }
    if status < 0, status != -SIGKILL {
      fault("signals", "client \(seat.number) was ended by signal \(-status)")
    } else if status != -SIGKILL {
      fault("", "client \(seat.number) ended with status \(status)")
    }
    for error in seat.errors { fault("", "client \(seat.number): \(error)") }
  }

  // MARK: Becoming equal

  /// As often all sync by turns while the server answers. Edits of four clients are merged after five turns.
  private static let mostTurns = 15

  private func settle() throws {
    for seat in seats {
      seat.child?.say("stop")
      guard seat.waits(for: "stopped") != nil else {
        return fault("", "client \(seat.number) did not stop: \(seat.errors)")
      }
    }
    try becomeEqual(seats)
  }

  /// Has clients sync by turns until nobody has anything to send, and nothing new has come, twice in a row: a sync
  /// that was under way when its client was told to stop goes on in the first turn, and a sync that only sends says
  /// that nothing new has come.
  private func becomeEqual(_ seats: [SyncSeat]) throws {
    let end = ContinuousClock.now + .seconds(120)
    var turns = 0
    var quietTurns = 0
    var outcomes: [String] = []
    while turns < Self.mostTurns, ContinuousClock.now < end {
      outcomes = []
      try server.begin("settle")
      try server.finish()
      for seat in seats {
        seat.child?.say("sync")
        guard let outcome = seat.waits(for: "synced") else {
          return fault("", "client \(seat.number) did not sync: \(seat.errors)")
        }
        outcomes.append(outcome)
        for error in seat.errors { return fault("", "client \(seat.number): \(error)") }
      }
      quietTurns = outcomes.allSatisfy { $0 == "alreadyCurrent 0 0" } ? quietTurns + 1 : 0
      if quietTurns == 2 { return }
      if outcomes.allSatisfy({ !$0.hasPrefix("unavailable") }) { turns += 1 }
    }
    fault("dirty", "clients have still to sync after \(turns) turns: \(outcomes)")
  }

  private func finish(_ seat: SyncSeat) throws {
    seat.child?.say("end")
    guard let status = seat.child?.end(timeoutSeconds: 60) else {
      return fault("", "client \(seat.number) did not end")
    }
    if status != 0 { fault("signals", "client \(seat.number) ended with status \(status)") }
    seat.child = nil
  }
}

/// The place of a client: its store stays when its process is killed.
final class SyncSeat {
  let number: Int
  let store: URL
  var child: ChildProcess?
  /// How often a process began here.
  var startCount = 0
  /// Edits that are kept, by what it said.
  private(set) var acknowledged: Set<String> = []
  private(set) var errors: [String] = []

  init(_ number: Int, in folder: URL) {
    self.number = number
    store = folder.appendingPathComponent("client-\(number)", isDirectory: true)
  }

  func note(_ line: String) {
    if line.hasPrefix("a ") { acknowledged.insert(String(line.dropFirst(2))) }
    if line.hasPrefix("error") { errors.append(line) }
  }

  /// Waits until it has kept so many edits more.
  func hears(_ count: Int) throws -> Bool {
    let wanted = acknowledged.count + count
    while acknowledged.count < wanted {
      guard let line = child?.line() else { return false }
      note(line)
    }
    return true
  }

  /// Waits for a line that begins so; the rest of it.
  func waits(for word: String) -> String? {
    while let line = child?.line(timeoutSeconds: 120) {
      if line.hasPrefix(word) { return String(line.dropFirst(word.count + 1)) }
      note(line)
    }
    return nil
  }
}
