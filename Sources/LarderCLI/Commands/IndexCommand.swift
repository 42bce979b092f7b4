internal import Larder

enum IndexCommand: Command {
  static let name = "index"
  static let summary = "declare an index of a collection, or drop one"
  static let help = """
    larder index COLLECTION FIELDS --store DIR
    larder index COLLECTION --search LIST --store DIR
    larder index COLLECTION --drop NAME --store DIR

    Declares an index over fields with commas between them, the one that is compared for equality
    most first and a minus before descending ones, and waits until it is complete. `larder stat`
    lists indexes. Queries choose by themselves which to use. A name with a comma stands between
    backquotes, as in '`last, first`'.

      --search LIST  a search index of texts instead, for `larder search`; a field may have a weight
                     behind it, as in `title:3,body`
      --name NAME    what to call it; else the names of the fields, or "search"
      --unique       refuse two documents with equal values; nil equals nothing. Where two have them
                     already, the index is not made
      --where EXPR   only documents that the expression holds for; for queries that ask for it too
      --drop NAME    drop the index of this name instead
      --store DIR    the store's folder; else the environment's LARDER_STORE

    \(Option.expressionHelp)

    Examples:
      larder index contacts city,-order --store ./data
      larder index contacts -updatedAt --store ./data
      larder index contacts email --unique --store ./data
      larder index notes --search title:3,body --store ./data
      larder index contacts --drop city,-order --store ./data

    Exit codes: 0 done, 1 refused or failure, 2 wrong usage.
    """
  static let options: [Option] = [
    .store, Option("name", takes: "NAME"), Option("unique"), Option("where", takes: "EXPR"),
    Option("drop", takes: "NAME"), Option("search", takes: "LIST"),
  ]

  static var takesMinus: Bool { true }

  static func run(_ arguments: Arguments) throws -> ExitCode {
    if let dropped = arguments["drop"] {
      let name = try arguments.operands("COLLECTION")[0]
      for other in ["name", "unique", "where", "search"] where arguments.has(other) {
        throw UsageError("--drop and --\(other) exclude each other")
      }
      let collection = try arguments.storeToChange().existing(name).collection
      guard try collection.dropIndex(dropped) else {
        let names = try collection.indexes().map(\.name)
        throw Failure(
          "\(name) has no index \(dropped.inQuotes)" + Spelling.suggestion(dropped, among: names))
      }
      try Console.print("\(name): dropped the index \(dropped.inQuotes)")
      Interruption.watch()
      try collection.finishIndexes { !Interruption.isWished }
      return .success
    }
    let collection: DynamicCollection
    let known: [IndexDescription]
    let declared: String
    if let searched = arguments["search"] {
      for other in ["unique", "where"] where arguments.has(other) {
        throw UsageError("--search and --\(other) exclude each other")
      }
      let name = try arguments.operands("COLLECTION")[0]
      collection = try arguments.storeToChange().existing(name).collection
      let fields = try Arguments.list(searched).map(searchField)
      known = try collection.indexes()
      let newName = arguments["name"] ?? "search"
      try refuseToReplace(newName, known, of: name)
      declared = try collection.createSearchIndex(on: fields, name: newName)
    } else {
      let operands = try arguments.operands("COLLECTION", "FIELDS")
      collection = try arguments.storeToChange().existing(operands[0]).collection
      let parts = try Arguments.list(operands[1]).map(part)
      let filter = try arguments.query(of: collection).filter
      known = try collection.indexes()
      try refuseToReplace(arguments["name"] ?? operands[1], known, of: operands[0])
      declared = try collection.createIndex(
        on: parts, name: arguments["name"], unique: arguments.has("unique"),
        where: arguments.has("where") ? filter : nil)
    }
    Interruption.watch()
    // Not `buildIndexes`: an index that failed before would keep it from building this one.
    try collection.finishIndexes { !Interruption.isWished }
    let indexes = try collection.indexes()
    try refuseFailed(indexes.first { $0.name == declared }, known, of: collection)
    let isWhole = !indexes.contains { $0.state == .building && !$0.isMissingTokenizer }
    guard isWhole || !Interruption.isWished else {
      throw Failure("stopped; the next program that writes goes on")
    }
    for index in indexes { try report(index, of: collection.name) }
    return .success
  }

  /// A search index with a tokenizer is an app's, which could not use what is put in its place.
  private static func refuseToReplace(
    _ name: String, _ known: [IndexDescription], of collection: String
  ) throws {
    guard let tokenizer = known.first(where: { $0.name == name })?.tokenizer else { return }
    throw Failure(
      "\(collection) has an index \(name.inQuotes) with the tokenizer \(tokenizer.inQuotes) of a program; "
        + "give the new one another name with --name, or drop the old one first: "
        + "larder index \(collection) --drop \(name)")
  }

  /// - Parameters:
  ///   - index: The one that was declared.
  ///   - known: What the collection had before.
  /// - Throws: `StoreError.indexNotAllowed` where two documents stand against it.
  private static func refuseFailed(
    _ index: IndexDescription?, _ known: [IndexDescription], of collection: DynamicCollection
  ) throws {
    guard let index, case .failed(let reason) = index.state else { return }
    // Of no use to anybody, unless it had failed before: then somebody has left it until the documents are changed.
    if !known.contains(where: { $0.hasFailed && $0.isSameIndex(as: index) }) {
      try collection.dropIndex(index.name)
    }
    throw StoreError.indexNotAllowed(
      collection: collection.name, index: index.name, reason: reason)
  }

  private static func report(_ index: IndexDescription, of collection: String) throws {
    if case .failed(let reason) = index.state {
      return Console.note(
        "larder: the index \(index.name.inQuotes) of \(collection) fails: \(reason)\n")
    }
    if index.isMissingTokenizer, let tokenizer = index.tokenizer {
      return try Console.print(
        "\(collection): index \(index.name.inQuotes) waits for a program with the tokenizer "
          + tokenizer.inQuotes)
    }
    let entries = Console.number(index.entryCount)
    try Console.print("\(collection): index \(index.name.inQuotes) has \(entries) entries")
  }

  private static func searchField(_ text: String) throws(UsageError) -> DynamicSearchField {
    let colon = text.lastIndex(of: ":").flatMap { text[$0...].contains("`") ? nil : $0 }
    let weight = colon.map { Int(text[text.index(after: $0)...]) } ?? 1
    guard let path = FieldPath(String(text[..<(colon ?? text.endIndex)])), let weight else {
      throw UsageError(
        "\(text.inQuotes) is no field, such as `body`, or `title:3` with a weight")
    }
    guard (1...100).contains(weight) else {
      throw UsageError("the weight of \(text.inQuotes) is not from 1 to 100")
    }
    return DynamicSearchField(path, weight: weight)
  }

  private static func part(_ text: String) throws(UsageError) -> DynamicIndexPart {
    let isDescending = text.hasPrefix("-")
    guard let path = FieldPath(isDescending ? String(text.dropFirst()) : text) else {
      throw UsageError("\(text.inQuotes) is no field, such as `name` or `-geo.lat`")
    }
    return DynamicIndexPart(path, isDescending: isDescending)
  }
}

extension IndexDescription {
  fileprivate var hasFailed: Bool { if case .failed = state { true } else { false } }

  /// Whether both are declared alike, however far they have come.
  fileprivate func isSameIndex(as other: IndexDescription) -> Bool {
    name == other.name && fields == other.fields && isUnique == other.isUnique
      && condition == other.condition
  }
}
