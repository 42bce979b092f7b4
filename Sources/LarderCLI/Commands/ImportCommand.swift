internal import Larder
internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

enum ImportCommand: Command {
  static let name = "import"
  static let summary = "import a JSON or CSV file into a collection"
  static let help = """
    larder import FILE --into COLLECTION --key FIELD --store DIR

    Imports the documents of a JSON or CSV file: all of them, or none if the file has an error.
    FILE is an array of objects, an object of objects under their keys, an object in each line
    (NDJSON), or a table with a header (CSV); `-` is standard input. It may be compressed with gzip or
    zstd, which is recognized by its first bytes. New documents are inserted. A document whose key
    exists replaces the stored one; if both are equal, nothing is written. The store and the
    collection are created if they do not exist.

      --into COLLECTION  the collection
      --key FIELD        the field that is the documents' key; may be left out where the collection
                         exists. In a file of objects under keys, those that lack it get it from
                         the key that they stand under. `-` makes keys that grow with time in the
                         field id, `-NAME` in another one: for rows of which no column is unique
      --store DIR        the store's folder; else the environment's LARDER_STORE
      --format FORMAT    auto (default), array, keyed, lines, sequence or csv; auto takes files named
                         .csv and .tsv for CSV. A sequence is one document, or several one behind the
                         other, over as many lines as they take
      --at MEMBER        of JSON: the member in which the documents stand, such as features or
                         response.items; other members are left out
      --delimiter CHAR   of CSV: comma (default), semicolon, tab (default for .tsv), pipe, or itself
      --types LIST       kinds of fields, as in `zip=string,geo.alt=decimal,votes=dictionary`; others
                         are those of the collection, or else what the whole file shows, from a pipe
                         too. The kinds: \(kinds(0..<6)),
                         \(kinds(6..<12)).
                         A name with a comma stands in quotes, as in `"a, b"=string`; a quote in
                         quotes is doubled. So it is in --columns
      --mixed            let a field hold values of several kinds; else JSON is refused, and a column
                         of CSV is text. For one column: --types NAME=any. An export has JSON in such
                         columns, which another store reads with --types NAME=json and --mixed,
                         and the same store without --mixed: with it, they would be text
      --repeated last    save the last of the documents that share a key; else they are refused
      --columns LIST     of CSV without a header: the names of the columns, as in `id,name,geo.lat`
      --max-bytes SIZE   the largest document, text or line that is read, as in 512M; 64M by default.
                         A window of zstd may have as much, and 128M anyway
      --clear EXPR       also delete the documents that EXPR holds for and that the file does not have,
                         as in --clear 'country == "NO"'; --clear true replaces the whole collection.
                         EXPR is what `larder query --where` takes
      --atomic           one transaction: an import that is interrupted saves nothing. With --clear, a
                         unique index, or keys that are made, it always is one
      --dry-run          say what would be imported, and change nothing

    In CSV an empty field is nil (empty text where the app's type has text that is never nil), `""`
    empty text, `\\N` no value at all; what is quoted is text, and so are 007 and +47 unless the
    collection or --types says otherwise. Rows end in LF or CR LF. Empty lines are skipped; with
    `--key -` they are rows of a table of one column, and mean nil.

    Control-C stops between two batches; those before stay saved.

    Examples:
      larder import contacts.json --into contacts --key id --store ./data
      larder import prices.csv --delimiter ';' --types sku=string --into prices --key sku
      larder import iris.csv --key - --into iris --store ./data
      larder import books.ndjson.gz --into books --key isbn --store ./data
      curl -s https://example.org/b.json.zst | larder import - --into books --key isbn --store ./data

    Exit codes: 0 imported, 1 bad input or failure, 2 wrong usage.
    """
  static let options: [Option] = [
    .store, Option("into", takes: "COLLECTION"), Option("key", takes: "FIELD"),
    Option("format", takes: "FORMAT"), Option("at", takes: "MEMBER"), .delimiter,
    Option("types", takes: "LIST"), Option("mixed"),
    Option("repeated", takes: "last"), Option("columns", takes: "LIST"),
    Option("max-bytes", takes: "SIZE"), Option("clear", takes: "EXPR"), Option("atomic"),
    Option("dry-run"),
  ]

  private static func kinds(_ places: Range<Int>) -> String {
    ImportType.allCases[places].map(\.rawValue).joined(separator: ", ")
  }

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let path = try arguments.operands("FILE")[0]
    guard let collection = arguments["into"] else {
      throw UsageError("into which collection? Give --into COLLECTION")
    }
    var options = try importOptions(arguments, of: path)
    let storePath = try arguments.storePath()
    // A file that is missing should leave no new store behind. A pipe can be opened only once.
    if path != "-", !isPipe(path) { _ = try ByteSource(path: path) }

    Interruption.watch()
    let isNew = !FileManager.default.fileExists(atPath: storePath + "/data.mdb")
    guard !isNew || arguments["key"] != nil else { throw noKey }
    // A dry run must not create the store.
    let store =
      isNew && options.isDryRun
      ? try Store.temporary() : try Store(at: storePath, options: .toChange(storePath))
    guard var key = try arguments["key"] ?? store.collection(collection).keyField() else {
      throw noKey
    }
    if arguments["key"]?.first == "-" {
      options.makesKeys = true
      key = key == "-" ? "id" : String(key.dropFirst())
    }
    let query = try clearing(arguments, in: store.collection(collection))
    let failed = try store.collection(collection).failedIndexes()
    var line = ProgressLine()
    let outcome = Result {
      try store.importDocuments(
        from: path == "-" ? .standardInput : .file(path), into: collection, key: key,
        clearBeforeSaving: query, options: options
      ) { progress in
        line.show(progress)
        try Interruption.check()
      }
    }
    line.clear()
    if !options.isDryRun { try finishIndexes(of: store.collection(collection), known: failed) }
    do {
      try report(
        try outcome.get(), collection, isDryRun: options.isDryRun, clears: query != nil)
    } catch let error as ImportError {
      guard let advice = error.advice(options) else { throw error }
      throw Failure("\(error)\n\(advice)")
    }
    try store.close()
    return .success
  }

  /// What is deleted before the documents are saved; nil where nothing is.
  private static func clearing(
    _ arguments: Arguments, in collection: DynamicCollection
  ) throws -> DynamicQuery? {
    guard let expression = arguments["clear"] else { return nil }
    do {
      return DynamicQuery(where: try FilterParser.filter(expression, in: collection))
    } catch var error as FilterError {
      error.option = "--clear"
      throw UsageError("\(error)")
    }
  }

  /// Whether something other than a file or a folder has this name.
  private static func isPipe(_ path: String) -> Bool {
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    guard let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] else {
      return false
    }
    return ![.typeRegular, .typeDirectory].contains(type as? FileAttributeType)
  }

  private static let noKey = UsageError(
    "which field is the key? Give --key FIELD, or --key - for keys that are made")

  /// An index over a field that has become wider is built anew: nobody else would do it soon.
  ///
  /// - Parameter known: What failed before.
  private static func finishIndexes(
    of collection: DynamicCollection, known: [String: String]
  ) throws {
    do {
      try collection.finishIndexes { !Interruption.isWished }
    } catch StoreError.full(let shortage) {
      // The documents are saved. Whoever opens the store next goes on.
      Console.note(
        "larder: indexes of \(collection.name) are not built to their end: \(shortage)\n")
    }
    for (name, reason) in try collection.failedIndexes().sorted(by: { $0.key < $1.key })
    where known[name] != reason {
      Console.note("larder: the index \(name.inQuotes) of \(collection.name) fails: \(reason)\n")
    }
  }

  private static func report(
    _ report: ImportReport, _ collection: String, isDryRun: Bool, clears: Bool
  ) throws {
    let count = Console.number(report.documentCount)
    guard !isDryRun else {
      try Console.print("\(collection): \(count) documents could be saved; nothing was changed")
      var table = Table(("FIELD", .left), ("KIND", .left))
      for field in report.inferredFields { table.add(field.name, field.kind) }
      for line in table.lines { try Console.print("  " + line) }
      return
    }
    let saved = report.saved
    try Console.print(
      "\(collection): \(count) documents read, \(Console.number(saved.inserted)) inserted, "
        + "\(Console.number(saved.updated)) updated, \(Console.number(saved.unchanged)) unchanged"
        + (clears ? ", \(Console.number(saved.deleted)) deleted" : "")
        + (report.repeatedKeyCount > 0
          ? "; \(Console.number(report.repeatedKeyCount)) left out for one after them with their key"
          : "")
        + " (\(Console.number(report.byteCount)) bytes, \(Console.seconds(report.duration)) s)")
  }
}

extension DynamicCollection {
  /// Why, by name.
  fileprivate func failedIndexes() throws -> [String: String] {
    try indexes().reduce(into: [:]) { failed, index in
      if case .failed(let reason) = index.state { failed[index.name] = reason }
    }
  }
}

extension ProgressLine {
  fileprivate mutating func show(_ progress: StoreProgress) {
    let activity =
      switch progress.phase {
      case .receiving: "receiving"
      case .saving: "saving"
      default: "checking"
      }
    show(activity, fraction: progress.fraction) { seconds in
      // Both readings of the file are work.
      let total = Double(progress.total ?? 0)
      let bytes = progress.fraction.map { $0 * 2 * total } ?? Double(progress.completed)
      let rate = seconds > 0 ? "\(Int(bytes / seconds / 1e5))" : "0"
      let tenths = rate.count > 1 ? "\(rate.dropLast()).\(rate.suffix(1))" : "0.\(rate)"
      return ["\(Console.grouped(progress.documentCount ?? 0)) documents", "\(tenths) MB/s"]
    }
  }
}
