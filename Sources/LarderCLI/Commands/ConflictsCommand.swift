internal import Larder
internal import LarderImport
internal import LarderRemote

enum ConflictsCommand: Command {
  static let name = "conflicts"
  static let summary = "list documents that were edited here and on the server, or settle them"
  static let help = """
    larder conflicts --store DIR
    larder conflicts --settle COLLECTION/KEY=here|there|merged --store DIR

    Lists the conflicts that wait for you, with the fields that differ: what they were before, what
    they are here, and what they are on the server. Such a document stays as it is here and is not
    sent before it is settled. Settling asks no server; the result goes with the next sync.

      --settle WHICH  settle one; may be given several times.
                      =here    keep the document from here, and send it
                      =there   take the server's
                      =merged  merge them field by field; what both have changed is kept from here
    \(Option.mergeRulesHelp)
      --store DIR     the store's folder; else the environment's LARDER_STORE

    Examples:
      larder conflicts --store ./data
      larder conflicts --settle items/milk=there --settle items/tea=here --store ./data
      larder conflicts --settle items/milk=merged --counter litres --store ./data

    Exit codes: 0 printed or settled, 1 no such conflict or failure, 2 wrong usage.
    """
  static let options: [Option] =
    [.store, Option("settle", takes: "COLLECTION/KEY=here", repeats: true)] + Option.mergeRules

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    let wishes = try arguments.all("settle").map(wish)
    let rules = try arguments.mergeRules()
    guard !wishes.isEmpty else {
      try list(PendingEdits(in: try arguments.storeToRead()).conflicts)
      return .success
    }
    let store = try arguments.storeToChange()
    let conflicts = try PendingEdits(in: store).conflicts
    // All are looked for before one is settled.
    let found = try wishes.map { wish in
      guard let conflict = conflicts.first(where: { "\($0.key)" == wish.name }) else {
        throw Failure(
          "\(wish.name.inQuotes) is in no conflict"
            + Spelling.suggestion(wish.name, among: conflicts.map { "\($0.key)" }))
      }
      return (key: conflict.key, wish.resolution)
    }
    for (key, resolution) in found {
      try finished { try await SyncEngine.settle(key, as: resolution, in: store, rules: rules) }
      let isSent = try PendingEdits(in: store).edits.contains { $0.key == key }
      try Console.print(
        "\(key): settled; "
          + (isSent ? "it goes to the server with the next sync" : "it is as on the server"))
    }
    try store.close()
    return .success
  }

  private static func wish(
    _ text: String
  ) throws(UsageError) -> (name: String, resolution: Resolution) {
    let resolutions: [String: Resolution] = ["here": .here, "there": .there, "merged": .merged]
    guard let sign = text.lastIndex(of: "="), sign > text.startIndex,
      let resolution = resolutions[String(text[text.index(after: sign)...])]
    else {
      throw UsageError(
        "--settle takes COLLECTION/KEY=here, =there or =merged, and not \(text.inQuotes)")
    }
    return (String(text[..<sign]), resolution)
  }

  private static func list(_ conflicts: [SyncConflict]) throws {
    guard !conflicts.isEmpty else { return try Console.print("there are no conflicts") }
    var table = Table(
      ("DOCUMENT", .left), ("FIELD", .left), ("BEFORE", .left), ("HERE", .left), ("THERE", .left))
    for conflict in conflicts {
      let versions = [conflict.before, conflict.here, conflict.there]
      guard conflict.here != nil, conflict.there != nil else {
        table.add(
          "\(conflict.key)", "", text(conflict.before) ?? "", text(conflict.here) ?? "deleted",
          text(conflict.there) ?? "deleted")
        continue
      }
      for name in names(versions.compactMap(\.self))
      where conflict.here?[name] != conflict.there?[name] {
        table.add(["\(conflict.key)", name] + versions.map { $0?[name].map(text) ?? "" })
      }
    }
    for line in table.lines { try Console.print(line) }
    for conflict in conflicts {
      if let reason = conflict.reason { try Console.print("\(conflict.key): \(reason)") }
    }
  }

  /// The fields of several documents, each once.
  private static func names(_ documents: [DynamicDocument]) -> [String] {
    var seen: Set<String> = []
    return documents.flatMap { $0.fields.map(\.name) }.filter { seen.insert($0).inserted }
  }

  private static func text(_ document: DynamicDocument?) -> String? {
    document.map { text(.document($0)) }
  }

  /// In JSON, cut where it is long: a table is to be read.
  private static func text(_ value: Value) -> String {
    let text = JSONOutput.text(of: value)
    return text.count > 40 ? text.prefix(39) + "…" : text
  }
}
