import Foundation
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting

@testable import Larder
@testable import LarderLMDB

/// One run of clients against a server, drawn from a seed, with what must come out of it.
///
/// Numbers are counters and lists are sets, so that every single edit shows in the end: one that was lost, and
/// one that was applied twice. Texts may be too long for the server until somebody shortens them. In some runs cards
/// have slots that are unique in a store, of which the server knows nothing; in others edits are rejected, until an
/// app mends them or somebody sends them again, or takes them back. Some programs only read: one has a store of its
/// own, and others use the store of a client.
struct SyncSimulation {
  private final class Client {
    let store: Store
    var engine: SyncEngine
    /// Of its process.
    let life = Lifetime()
    let departures: Departures

    private let mend: Mending?
    private let server: MortalRemote
    private let deletions: DeletionPolicy
    private let clock: ManualClock
    private let diesInCommits: Bool
    private let resolver: Resolver?

    /// - Parameter diesInCommits: Whether the process may also end as it commits, and not only while it waits for
    ///   the server.
    init(
      _ server: InMemoryRemote, _ weather: Weather, _ deletions: DeletionPolicy,
      _ resolver: Resolver?, _ mend: Mending?, _ judge: Judge?, clock date: Date,
      diesInCommits: Bool
    ) throws {
      store = try Store.temporary()
      self.deletions = deletions
      self.diesInCommits = diesInCommits
      self.resolver = resolver
      self.mend = mend
      departures = Departures(server, scopes: SyncSimulation.scopes + ["elsewhere"])
      self.server = MortalRemote(
        server: server, life: life, weather: weather, departures: departures, judge: judge)
      clock = ManualClock(date: date)
      engine = try Self.engine(store, self.server, deletions, resolver, mend, clock)
    }

    /// The process ends, and another one goes on with the store.
    func restart() throws {
      engine = try Self.engine(store, server, deletions, resolver, mend, clock)
    }

    /// A sync whose process ends after so many moments, each of them before or after a request, or before a commit.
    func attempt(endingAfter moments: Int?) -> Attempt {
      Attempt(
        engine: engine, life: life, folder: store.engine.environment.folder, moments: moments,
        diesInCommits: diesInCommits)
    }

    private static func engine(
      _ store: Store, _ server: MortalRemote, _ deletions: DeletionPolicy, _ resolver: Resolver?,
      _ mend: Mending?, _ clock: ManualClock
    ) throws -> SyncEngine {
      var options = SyncEngine.Options()
      options.mend = mend
      return try SyncEngine(
        store, remote: server,
        collections: [
          SyncedCollection(
            Card.self, rules: Card.rules, deletions: deletions, resolver: resolver)
        ],
        scopes: SyncSimulation.scopes, account: "me", interval: .zero, options: options,
        clock: clock)
    }

    var cards: StoreRepository<Card> { store.repository(of: Card.self) }
  }

  /// A program that sends nothing.
  private static func reader(_ store: Store, _ server: InMemoryRemote) throws -> SyncEngine {
    try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self, direction: .down)],
      scopes: scopes, account: "me", interval: .zero)
  }

  /// What all have done to a document that nobody deletes.
  private struct Expected {
    var count = 0
    var tags: Set<String> = []
  }

  private var random: RandomSource
  private let server: InMemoryRemote
  private let clients: [Client]
  private var expected: [String: Expected] = [:]
  private var tokenCount = 0
  private let weather: Weather
  private let chooser: Chooser
  /// Whether cards have slots.
  private let hasSlots: Bool
  /// Whether edits are rejected.
  private let isJudged: Bool
  /// Cards of which somebody has taken edits back.
  private var discarded: Set<String> = []
  /// Of a program that only reads, with a store of its own.
  private let copy: SyncEngine
  /// What happened, for whoever looks for the cause of a problem.
  private let trace = Trace()

  init(seed: UInt64) throws {
    random = RandomSource(seed: seed)
    var facts = RemoteFacts.ofInMemoryRemote
    facts.maximumChangeCount = random.int(1..<8)
    facts.maximumMutationCount = random.int(1..<8)
    facts.maximumConcurrentPushCount = random.int(1..<6)
    let server = InMemoryRemote(facts: facts)
    self.server = server
    let deletions: DeletionPolicy = random.bool() ? .editWins : .deletionWins
    let weather = Weather(seed: random.next())
    self.weather = weather
    // A year behind, right, and a year ahead; or all the same: nothing may depend on it.
    let years: [Double] = random.bool() ? [-1, 0, 1] : [0, 0, 0]
    let diesInCommits = random.once(in: 4)
    let chooser = Chooser(seed: random.next())
    self.chooser = chooser
    let decides: Resolver = { [weather] in
      chooser.resolution(of: $0, mayAsk: !weather.isFair)
    }
    let resolver = random.once(in: 3) ? decides : nil
    hasSlots = random.once(in: 3)
    let judge = random.once(in: 3) ? Judge(weather) : nil
    isJudged = judge != nil
    let mends: Mending = { [weather, hasSlots] in
      guard weather.mends(), var document = $0.document else { return nil }
      // It may be one that cannot be saved.
      if hasSlots, weather.mends() { document["slot"] = "s1" }
      if weather.mends() { document["count"] = "many" }
      return document
    }
    let isMending = random.bool()
    let mend = isJudged && isMending ? mends : nil
    copy = try Self.reader(.temporary(), server)
    clients = try years.map {
      try Client(
        server, weather, deletions, resolver, mend, judge,
        clock: Date(timeIntervalSinceReferenceDate: 8e8 + 31_557_600 * $0),
        diesInCommits: diesInCommits)
    }
    server.script { [weather, trace] call, _ in
      let fault = weather.fault(for: call)
      trace.note("\(call) \(fault.map { "\($0)" } ?? "")")
      return fault
    }
  }

  /// - Returns: What is wrong.
  mutating func run() async throws -> [String] {
    for _ in 0..<random.int(20..<60) { try await step() }
    weather.isFair = true
    // What was set aside without an answer is sent again by the next engine.
    for client in clients where try client.engine.rejected().isEmpty == false {
      try client.restart()
    }
    try await syncAll()
    try await settleAll()
    var problems = clients.flatMap(\.departures.problems)
    // A document that has left one scope and was deleted in another one, which this client reads for the first time,
    // is in none that it knows of: whoever has edited it meanwhile decides. One that was made here meets the other one
    // only then, and is asked about once more.
    for _ in 0..<2 where try await retryLeft() {
      try await syncAll()
      try await settleAll()
    }
    try await copy.sync(.afterNow)
    problems += try findProblems()
    if !problems.isEmpty, ProcessInfo.processInfo.environment["LARDER_TRACE"] != nil {
      problems += trace.lines
    }
    for store in clients.map(\.store) + [copy.store] { try verifyAndClose(store) }
    return problems
  }

  private mutating func syncAll() async throws {
    for _ in 0..<4 {
      try await shortenAll()
      try await emptySlots()
      try await retryRejected()
      for client in clients { try await client.engine.sync(.afterNow) }
    }
  }

  /// Somebody shortens every text that was too long.
  private mutating func shortenAll() async throws {
    for client in clients {
      for edit in try client.engine.rejected() where edit.code == "too-large" {
        trace.note("shortens \(edit.key)")
        // Equal documents that are made twice count as one.
        let title = "t\(tokenCount)"
        tokenCount += 1
        try await client.cards.update(edit.key.key) { $0.title = title }
      }
    }
  }

  /// Nobody needs a slot any more.
  private func emptySlots() async throws {
    guard hasSlots else { return }
    for client in clients {
      for card in try client.cards.fetch(Card.where { $0.slot != nil }) {
        trace.note("empties the slot of \(card.id)")
        try await client.store.write { [departures = client.departures] tx in
          try Self.allowDeparture(of: card.id, departures, tx)
          guard var card = try tx.get(Card.self, card.id) else { return }
          card.slot = nil
          try tx.save(card)
        }
      }
    }
  }

  /// Somebody sends everything again that was rejected.
  private func retryRejected() async throws {
    for client in clients {
      for edit in try client.engine.rejected() where edit.code == "closed" {
        trace.note("sends \(edit.key) again")
        try await client.engine.retry(edit.key)
      }
    }
  }

  /// Somebody looks at what was rejected, and sends it again or takes it back.
  private mutating func treatRejected(_ client: Client) async throws {
    for edit in try client.engine.rejected() {
      switch random.int(0..<3) {
      case 0:
        trace.note("retries \(edit.key)")
        if edit.code == "left" { client.departures.allow(edit.key.key) }
        try await client.engine.retry(edit.key)
      case 1:
        trace.note("discards \(edit.key)")
        discarded.insert(edit.key.key)
        try await client.engine.discard(edit.key)
      default: break
      }
    }
  }

  /// Somebody takes all documents back that have left.
  ///
  /// - Returns: Whether there were any.
  private func retryLeft() async throws -> Bool {
    var isRetried = false
    for client in clients {
      for edit in try client.engine.rejected() where edit.code == "left" {
        trace.note("retries \(edit.key)")
        try await client.engine.retry(edit.key)
        isRetried = true
      }
    }
    return isRetried
  }

  /// Somebody answers every question.
  private mutating func settleAll() async throws {
    for _ in 0..<8 {
      var isSettled = true
      for client in clients where try await settle(client) { isSettled = false }
      if isSettled { return }
      try await syncAll()
    }
  }

  /// - Returns: Whether anything was settled.
  @discardableResult private func settle(_ client: Client) async throws -> Bool {
    let conflicts = try client.engine.conflicts()
    for conflict in conflicts {
      let resolution = chooser.resolution(of: conflict, mayAsk: false)
      trace.note("settles \(conflict) as \(resolution)")
      do {
        try await client.engine.settle(conflict.key, as: resolution)
      } catch SyncError.unmergeable where hasSlots {
        trace.note("has no slot for it")
      } catch StoreError.uniqueViolation where hasSlots {
        trace.note("has no slot for it")
      }
    }
    return !conflicts.isEmpty
  }

  private mutating func step() async throws {
    let number = random.int(0..<clients.count)
    let client = clients[number]
    trace.note("client \(number)")
    switch random.int(0..<12) {
    case 0..<6: try await edit(client)
    case 6 where random.once(in: 3): try await settle(client)
    case 6 where isJudged && random.bool(): try await treatRejected(client)
    case 6: try client.restart()
    case 9 where random.once(in: 3):
      // Another program brings what is new into the same store, or into its own.
      let reader = random.bool() ? copy : try Self.reader(client.store, server)
      trace.note("reads")
      _ = try? await reader.sync(.afterNow)
    case 10:
      // Somebody else moves a document into another scope; one that may be deleted, to where nobody reads, too.
      let id = random.pick(["a", "b", "c", "d", "gone1", "gone2"])
      let scope = random.pick(id.hasPrefix("gone") ? Self.scopes + ["elsewhere"] : Self.scopes)
      trace.note("moves \(id) to \(scope)")
      server.move(RemoteKey("Card", id), to: scope)
    case 11 where try random.once(in: 3) && client.engine.pending().isEmpty:
      // What was sent is on the server, and comes again.
      trace.note("erases")
      _ = try await client.cards.eraseAllData()
    case 7 where random.once(in: 4):
      // A server remembers edits for longer than anybody waits for an answer.
      let isWaiting = try clients.contains {
        try $0.engine.pending().contains { $0.status == .sent || $0.status == .rejected }
      }
      if !isWaiting { server.purge() }
    default:
      let edits = random.once(in: 2) ? 2 : 0
      let moments = random.once(in: 3) ? random.int(0..<25) : nil
      let attempt = client.attempt(endingAfter: moments)
      async let hasEnded = attempt.run()
      for _ in 0..<edits {
        do {
          try await edit(client)
        } catch StoreError.storage where attempt.endsInCommits {
          // The process has ended: it was not kept, and nobody was told that it was.
          break
        }
      }
      if await hasEnded {
        trace.note("client \(number) ended")
        try client.restart()
      }
    }
  }

  private mutating func edit(_ client: Client) async throws {
    let id = random.pick(["a", "b", "c", "d", "gone1", "gone2"])
    if id.hasPrefix("gone"), random.once(in: 3) {
      let isByQuery = random.bool()
      trace.note("deletes \(id)")
      try await client.store.write { [departures = client.departures] tx in
        try Self.allowDeparture(of: id, departures, tx)
        if isByQuery {
          try tx.save([Card](), clearBeforeSaving: Card.where { $0.id == id })
        } else {
          try tx.delete(Card.self, id)
        }
      }
      return
    }
    let change = random.int(0..<(hasSlots ? 8 : 6))
    let slot = random.pick([nil, "s1", "s2", "s3"])
    let number = random.int(-5..<6)
    let token = "t\(tokenCount)"
    tokenCount += 1
    let removesFirst = random.once(in: 3)
    let title = token + (random.once(in: 4) ? String(repeating: "-", count: 1000) : "")
    let departures = client.departures
    let removed = try await client.store.write { tx -> String? in
      try Self.allowDeparture(of: id, departures, tx)
      // Equal documents that are made twice count as one.
      var card = try tx.get(Card.self, id) ?? Card(id: id, title: token)
      var removed: String?
      switch change {
      case 0, 1: card.count += number
      case 2, 3:
        card.tags.append(token)
        if removesFirst, card.tags.count > 1 { removed = card.tags.removeFirst() }
      case 4: card.title = title
      case 6...: if try Self.isFree(slot, tx) { card.slot = slot }
      default:
        card.spot.x = number
        if removesFirst { card.spot.y = number }
      }
      try tx.save(card)
      return removed
    }
    trace.note("edits \(id): \(change) \(number) \(token)")
    guard !id.hasPrefix("gone") else { return }
    switch change {
    case 0, 1: expected[id, default: Expected()].count += number
    case 2, 3:
      expected[id, default: Expected()].tags.insert(token)
      if let removed { expected[id]?.tags.remove(removed) }
    default: break
    }
  }

  private static func isFree(_ slot: String?, _ tx: borrowing WriteScope) throws -> Bool {
    guard let slot else { return true }
    return try tx.count(Card.where { $0.slot == slot }) == 0
  }

  /// Whoever edits a document that has left, and was listed for it, has it sent.
  private static func allowDeparture(
    of id: String, _ departures: Departures, _ tx: borrowing WriteScope
  ) throws {
    if try tx.outboxEntry("Card", Array(id.utf8))?.hold?.code == "left" { departures.allow(id) }
  }

  private func findProblems() throws -> [String] {
    var problems: [String] = []
    let copies = try (clients.map(\.store) + [copy.store]).map {
      try $0.repository(of: Card.self).fetch(Card.all.sorted(by: \.id))
    }
    if Set(copies.map { $0.map(\.comparable) }).count > 1 {
      problems.append("the copies differ: \(copies)")
    }
    let there = Self.scopes.map { server.documents(in: $0) }.reduce([:]) {
      $0.merging($1) { first, _ in first }
    }
    for (copy, engine) in zip(copies, clients.map(\.engine) + [copy]) {
      let own = try copy.map { try RemoteDocument(encoding: Plain($0)).decode(as: Plain.self) }
      let remote = try there.values.compactMap { try $0.document?.decode(as: Plain.self) }
      if own.map(\.text).sorted() != remote.map(\.text).sorted() {
        problems.append("the server has other documents: \(remote), here \(own)")
      }
      if try !engine.conflicts().isEmpty {
        problems.append("questions: \(try engine.conflicts())")
      }
      if try !engine.pending().isEmpty {
        problems.append("pending: \(try engine.pending())")
      }
      if try !engine.refused().isEmpty { problems.append("refused documents") }
    }
    for (id, expected) in expected.sorted(by: { $0.key < $1.key }) {
      if discarded.contains(id) { continue }
      guard let card = copies[0].first(where: { $0.id == id }) else {
        problems.append("\(id) is lost")
        continue
      }
      if card.count != expected.count, !chooser.isUnsure(id) {
        problems.append("\(id) counts \(card.count) and not \(expected.count)")
      }
      if Set(card.tags) != expected.tags || card.tags.count != expected.tags.count {
        problems.append("\(id) has \(card.tags) and not \(expected.tags.sorted())")
      }
    }
    return problems
  }

  static let scopes = ["all", "more"]

  private typealias Resolver = @Sendable (SyncConflict) -> Resolution
  private typealias Mending = @Sendable (RejectedEdit) -> DynamicDocument?

  private struct Plain: Codable {
    var id: String
    var title: String
    var slot: String?
    var count: Int
    var tags: [String]
    var spot: [String: Int]

    init(_ card: Card) {
      (id, title, slot) = (card.id, card.title, card.slot)
      (count, tags) = (card.count, card.tags)
      spot = ["x": card.spot.x, "y": card.spot.y]
    }

    var text: String {
      "\(id) \(title) \(slot ?? "") \(count) \(tags) \(spot.sorted { $0.key < $1.key })"
    }
  }
}

extension Card {
  fileprivate var comparable: String { "\(self)" }
}

/// One sync of a process that may end in it.
private struct Attempt: Sendable {
  let engine: SyncEngine
  let life: Lifetime
  /// The store's.
  let folder: String
  let moments: Int?
  let diesInCommits: Bool

  var endsInCommits: Bool { diesInCommits && moments != nil }

  /// - Returns: Whether the process ended.
  func run() async -> Bool {
    life.begin(moments)
    let (life, endsInCommits) = (life, endsInCommits)
    if endsInCommits {
      _ = CallFaults.watch(folder) { call in call == .commit && !life.passes() ? EIO : nil }
    }
    _ = try? await engine.sync(.afterNow)
    if endsInCommits { CallFaults.stopWatching(folder) }
    return life.end()
  }
}
