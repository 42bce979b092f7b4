import Foundation
import Larder

/// Compares everything with everything, while nobody writes: documents, change log, watchers,
/// consumers, pages.
struct KillAudit {
  private let folder: URL
  /// Every change of an item, by the log.
  private var changes: [KillChange] = []
  /// How far the log was read, and what is there by it.
  private var token: ChangeToken?
  private var lastSequence: UInt64 = 0
  private var present: Set<String> = []
  /// What each consumer must have added up, and how many of the changes that is.
  private var expected: [String: (accounting: KillAccounting, count: Int)] = [:]
  /// How many sightings of each watcher were looked at.
  private var seen: [String: Int] = [:]

  init(_ folder: URL) { self.folder = folder }

  mutating func run(_ run: KillRun) throws {
    if run.watchers[.witness] != nil { try checkRows(run) }
    for name in ["witness"] + run.books.map({ "inner-\($0.writer)" }) {
      try checkSightings(name, run)
    }
    guard run.isClean else { return }
    let store = try Store(at: KillStore.folder(in: folder), options: KillStore.options)
    defer { try? store.close() }  // What this process reads ends with its call.
    try checkLog(store, run)
    for role in KillRole.allCases where run.isClean {
      guard let name = role.consumer, let child = run.watchers[role] else { continue }
      try checkConsumer(name, store, running: child, run)
    }
    for book in run.books {
      try checkConsumer("inner-\(book.writer)", store, running: nil, run)
    }
    try checkSearches(store, run)
    let report = try store.check()
    if let problem = report.problems.first {
      run.fault("corrupt", "\(problem)", report.problems.count)
    }
  }

  // MARK: Watchers

  /// The watcher that applies differences arrives at the documents that are there.
  private func checkRows(_ run: KillRun) throws {
    let sightings = try KillWitness.Sightings(in: folder, "witness")
    var digest = KillDigest()
    for book in run.books {
      for (number, nonce) in book.contents.items.sorted(by: { $0.key < $1.key }) {
        digest.add(KillItem.id(writer: book.writer, number: number), KillItem.text(of: nonce))
      }
    }
    let hasEnded = { run.watchers[.witness]?.isAlive != true }
    _ = waits { sightings.digest == digest.value || hasEnded() }
    if sightings.digest != digest.value {
      run.fault("missed", "the rows of the watcher are not those of the store")
    }
  }

  /// Nobody was told of a write that was not committed, or twice of one.
  private mutating func checkSightings(_ name: String, _ run: KillRun) throws {
    let sightings = try KillWitness.Sightings(in: folder, name)
    let (nonces, end) = sightings.nonces(from: seen[name] ?? 0)
    seen[name] = end
    let strange = nonces.filter { nonce in !run.books.contains { $0.committed.contains(nonce) } }
    if !strange.isEmpty {
      run.fault("phantom", "\(name) was told of writes that were never committed", strange.count)
    }
    if sightings.complaints > 0 {
      run.fault("duplicates", "\(name): \(sightings.complaints) steps did not fit the rows before")
    }
  }

  // MARK: Searches

  /// A search for a nonce finds the items that have it, and no others; one for what all have finds all.
  private func checkSearches(_ store: Store, _ run: KillRun) throws {
    let items = store.repository(of: KillItem.self)
    var ids: [UInt64: Set<String>] = [:]
    for book in run.books {
      for (number, nonce) in book.contents.items {
        ids[nonce, default: []].insert(KillItem.id(writer: book.writer, number: number))
      }
    }
    for (nonce, expected) in ids.sorted(by: { $0.key < $1.key }).prefix(Self.searchCount) {
      let found = try items.keys(of: KillItem.search("\"\(KillItem.text(of: nonce))\""))
      if Set(found) != expected || found.count != expected.count {
        run.fault("search", "a search for \(KillItem.text(of: nonce)) finds \(found.sorted())")
      }
    }
    let count = try items.count(KillItem.search("n"))
    let expected = ids.values.reduce(0) { $0 + $1.count }
    if count != expected { run.fault("search", "a search finds \(count) of \(expected) items") }
  }

  /// Nonces that are searched for, of those that there are.
  private static let searchCount = 100

  // MARK: The log

  /// Reads what has come since the last time: each change is possible, none is left out, and at the
  /// end those documents are there that are there.
  private mutating func checkLog(_ store: Store, _ run: KillRun) throws {
    while true {
      let batch = try store.history(since: token, limit: 5000)
      if batch.isReset {
        return run.fault("missed", "the log does not reach back to change \(lastSequence)")
      }
      for change in batch.changes {
        if change.sequence != lastSequence + 1 {
          run.fault("missed", "the log goes from \(lastSequence) to \(change.sequence)")
        }
        lastSequence = change.sequence
        if change.collection == "KillItem" { follow(change, run) }
      }
      token = batch.token
      if batch.changes.isEmpty { break }
    }
    var documents: Set<String> = []
    for book in run.books {
      documents.formUnion(
        book.contents.items.keys.map { KillItem.id(writer: book.writer, number: $0) })
    }
    let (missing, extra) = (documents.subtracting(present), present.subtracting(documents))
    if !missing.isEmpty { run.fault("missed", "the log never told of \(missing.sorted())") }
    if !extra.isEmpty { run.fault("phantom", "by the log there is \(extra.sorted())", extra.count) }
  }

  private mutating func follow(_ change: DocumentChange, _ run: KillRun) {
    changes.append(KillChange(change))
    guard case .string(let id) = change.key else {
      return run.fault("", "change \(change.sequence) has no key")
    }
    let wasThere = present.contains(id)
    guard wasThere == (change.kind != .inserted) else {
      return run.fault("duplicates", "change \(change.sequence) of \(id): \(change.kind)")
    }
    if change.kind == .inserted { present.insert(id) }
    if change.kind == .deleted { present.remove(id) }
    guard wasThere else { return }
    guard case .string(let text)? = change.old?["nonce"], let nonce = KillItem.nonce(text),
      run.books.contains(where: { $0.committed.contains(nonce) })
    else {
      return run.fault(
        "phantom", "change \(change.sequence) undoes a write that was never committed")
    }
  }

  // MARK: Consumers

  /// Each change was added up once, in the order of the log, whoever was killed meanwhile.
  ///
  /// - Parameter child: The consumer that runs, and so must come to the end of the log.
  private mutating func checkConsumer(
    _ name: String, _ store: Store, running child: ChildProcess?, _ run: KillRun
  ) throws {
    let accounts = store.repository(of: KillAccount.self)
    var account: KillAccount?
    let last = changes.last.map { Int($0.sequence) } ?? 0
    _ = try waits(seconds: child == nil ? 0 : 60) {
      account = try accounts.fetch(KillAccount.where { $0.id == name }).first
      return (account?.last ?? -1) >= last || child?.isAlive == false
    }
    if child != nil, (account?.last ?? -1) < last {
      return run.fault("missed", "consumer \(name) does not arrive at change \(last)")
    }
    guard let account else { return }
    if account.resets > 0 {
      return run.fault("missed", "consumer \(name) had to begin anew \(account.resets) times")
    }
    var (accounting, count) = expected[name] ?? (KillAccounting(nil, name), 0)
    while count < changes.count, changes[count].sequence <= account.last {
      if changes[count].sequence > account.start { accounting.take(changes[count]) }
      count += 1
    }
    expected[name] = (accounting, count)
    let present = changes.prefix(count).reduce(0) { sum, change in
      sum + (change.kind == .inserted ? 1 : change.kind == .deleted ? -1 : 0)
    }
    if account.present != present {
      run.fault(
        account.present > present ? "duplicates" : "missed",
        "consumer \(name) counts \(account.present) items at change \(account.last), and there were "
          + "\(present)", abs(account.present - present))
    }
    let difference = account.count - accounting.account.count
    if difference != 0 || account.digest != accounting.account.digest {
      run.fault(
        difference > 0 ? "duplicates" : "missed",
        "consumer \(name) was told \(account.count) changes, and there were "
          + "\(accounting.account.count)", max(1, abs(difference)))
    }
  }
}
