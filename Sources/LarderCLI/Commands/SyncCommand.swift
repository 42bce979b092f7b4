internal import Larder
internal import LarderRemote

enum SyncCommand: Command {
  static let name = "sync"
  static let summary = "send edits to a sync server and bring down what others changed"
  static let help = """
    larder sync --remote URL --token TOKEN --scope NAME --account NAME --collection NAME --store DIR

    Sends the edits that wait, brings down what changed on the server, and prints how many documents
    went which way. From the first sync on, every edit of these collections is noted in the store, by
    whichever program it is made, and goes with the next sync. Documents that are there before the
    first sync are sent, too. A document that was edited on both sides is merged field by field: a
    field that both have changed keeps the value from here.

      --remote URL       the server's base address, such as https://sync.example.org/v1
      --token TOKEN      who you are; else the environment's LARDER_TOKEN
      --account NAME     whose documents these are. Edits of one account are never sent under another
      --scope NAME       what to follow on the server; may be given several times. New documents go
                         into the first. Edits of documents in scopes that are left out wait
      --collection NAME  what to sync; may be given several times. NAME:FIELD says which field is
                         the key of a collection that is not here yet. Without it, the collections
                         that were synced before
      --down             bring down only: edits made here stay here, and are no longer noted
      --ask              do not merge: leave what was edited on both sides to `larder conflicts`
    \(Option.mergeRulesHelp)
      --watch            go on until Control-C: sync after each edit and whenever the server has news,
                         and print a line when the state changes
      --store DIR        the store's folder; else the environment's LARDER_STORE

    FIELD may have dots, as in `stock.count`. Rules hold for all collections of the command.

    Control-C stops; what was sent and saved stays, and the next sync continues.

    Examples:
      larder sync --remote https://sync.example.org/v1 --scope groceries --account anna \\
        --collection items --store ./data
      larder sync --remote "$URL" --scope a --scope b --account anna --counter votes --watch

    Exit codes: 0 in step, 1 edits or documents wait, or failure, 2 wrong usage.
    """
  static let options: [Option] =
    [
      .store, Option("remote", takes: "URL"), Option("token", takes: "TOKEN"),
      Option("account", takes: "NAME"), Option("scope", takes: "NAME", repeats: true),
      Option("collection", takes: "NAME", repeats: true), Option("down"), Option("ask"),
      Option("watch"),
    ] + Option.mergeRules

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    let remote = try arguments.remote()
    guard let account = arguments["account"] else {
      throw UsageError("whose documents are these? Give --account NAME")
    }
    guard account.utf8.count <= 100 else { throw UsageError("an account has at most 100 bytes") }
    guard !arguments.all("scope").isEmpty else {
      throw UsageError("which scope? Give --scope NAME")
    }
    let rules = try arguments.mergeRules()
    let path = try arguments.storePath()
    Interruption.watch()
    let store = try Store(at: path, options: .toChange(path))
    let before = try PendingEdits(in: store)
    let named = try arguments.collections(in: store, known: before.collections)
    let tally = SyncTally()
    let engine = try makeEngine(
      store,
      CountedRemote(remote: remote, collections: Set(named.map(\.name)), tally: tally),
      named.map { collection(named: $0.name, $0.keyField, rules, arguments, tally) },
      scopes: try arguments.scopes(), account: account)

    let run = SyncRun(engine: engine, tally: tally)
    let outcome = Result {
      try Console.whileRead { try arguments.has("watch") ? run.untilInterrupted() : run.once() }
    }
    let after = try PendingEdits(in: store)
    try Console.whileRead { try report(tally.counts, after) }
    do {
      try outcome.get()
    } catch is CancellationError {
      throw Failure("it was stopped; what was sent and saved stays, and the next sync continues")
    } catch let error as RemoteError {
      // Servers end their texts as they like.
      let text = "\(error)"
      throw Failure("\(text.hasSuffix(".") ? String(text.dropLast()) : text)\(error.advice)")
    }
    try store.close()
    return after.edits.isEmpty && after.refused.isEmpty ? .success : .failure
  }

  private static func makeEngine(
    _ store: Store, _ remote: some Remote, _ collections: [SyncedCollection], scopes: [String],
    account: String
  ) throws -> SyncEngine {
    do {
      return try SyncEngine(
        store, remote: remote, collections: collections, scopes: scopes, account: account)
    } catch SyncError.otherAccount(let count) {
      let owner = try PendingEdits(in: store).account ?? ""
      throw Failure(
        "the store belongs to the account \(owner.inQuotes) and has \(count) edits that were not sent. "
          + "Send them with --account \(owner) and its token first, or use another store")
    }
  }

  private static func collection(
    named name: String, _ keyField: String?, _ rules: MergeRules, _ arguments: Arguments,
    _ tally: SyncTally
  ) -> SyncedCollection {
    let asks = arguments.has("ask")
    return SyncedCollection(
      name, keyField: keyField, direction: arguments.has("down") ? .down : .both, rules: rules,
      resolver: { _ in
        if asks { return .ask }
        tally.noteMerge()
        return .merged
      })
  }

  private static func report(_ counts: SyncCounts, _ after: PendingEdits) throws {
    func count(_ status: PendingEdit.Status) -> Int { after.edits.count { $0.status == status } }
    var table = Table(("SYNC", .left), ("DOCUMENTS", .right), ("", .left))
    for (name, count) in [
      ("pulled", counts.pulled), ("pushed", counts.pushed), ("merged", counts.merged),
    ] {
      table.add(name, Console.number(count), "")
    }
    for (name, count, advice) in [
      ("pending", count(.due) + count(.sent), "they go with the next sync of their scope"),
      ("conflicts", count(.conflict), "`larder conflicts` shows and settles them"),
      ("rejected", count(.rejected), "`larder pending` says why"),
      ("refused", after.refused.count, "`larder pending` says why"),
    ] where count > 0 {
      table.add(name, Console.number(count), advice)
    }
    for line in table.lines { try Console.print(line) }
  }
}

extension RemoteError {
  /// What to do about it.
  fileprivate var advice: String {
    switch self {
    case .unavailable: ". Edits are kept; run the command again later"
    case .needsSignIn:
      ". Edits are kept; give a token that the server knows, by --token or LARDER_TOKEN"
    case .forbidden: ". Edits are kept; ask the server's owner, or check --scope and the token"
    case .gone, .malformed: ". Is --remote the base address of a sync server, such as https://…/v1?"
    case .cursorExpired, .tooLarge: ". Run the command again"
    }
  }
}
