internal import Larder
internal import LarderImport

enum SearchCommand: Command {
  static let name = "search"
  static let summary = "print the documents that a text is found in, best first"
  static let help = """
    larder search COLLECTION TEXT --store DIR

    Prints the documents in whose texts TEXT is found, the best first. It is searched in the fields of
    the collection's search index; without such an index, in every text, which is slower.

      --in FIELDS       search in these fields instead, as in `title,author.name`
      --typing          the last word is unfinished: win finds winter
      --typos           also find words with one wrong letter, or two from 9 letters
      --standard-words  search by the standard words where the search index has the tokenizer of an app:
                        reads every document, and may find others than the app does
      --snippet         print keys, and where the text was found
      --format FORMAT   table (default), json, ndjson or csv
    \(Option.selectingHelp)
      --store DIR       the store's folder; else the environment's LARDER_STORE

    TEXT, such as  hotel london OR paris "city centre" -hostel:

      word          the word, whatever its case and accents
      "two words"   these words, one after the other
      one OR other  one of them
      -word         not the word, nor -"two words"
      win*          words that begin with win

    \(Option.expressionHelp)

    Examples:
      larder index notes --search title:3,body --store ./data
      larder search notes 'blue win*' --snippet --limit 20 --store ./data
      larder search notes winter --where 'year > 2020' --format ndjson --store ./data

    Exit codes: 0 printed, 1 no such collection or failure, 2 wrong usage.
    """
  static let options: [Option] =
    QueryCommand.options + [
      Option("in", takes: "FIELDS"), Option("typing"), Option("typos"), Option("snippet"),
      Option("standard-words"),
    ]

  /// `-word` is a text to search for.
  static var takesMinus: Bool { true }

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let operands = try arguments.operands("COLLECTION", "TEXT")
    let collection = try arguments.storeToRead().existing(operands[0]).collection
    var query = try arguments.query(of: collection)
    query.search = DynamicSearch(
      operands[1], in: try arguments.paths("in", of: collection),
      prefix: arguments.has("typing") ? .last : .marked, allowingTypos: arguments.has("typos"),
      tokenizer: arguments.has("standard-words") ? StandardTokenizer() : nil)
    do {
      return try run(query, of: collection, arguments)
    } catch let error as DynamicQueryError where error.part == .tokenizer {
      throw Failure(
        "\(collection.name) is searched by \(error.found). Add --standard-words to search by the standard "
          + "words, or search with the app")
    }
  }

  private static func run(
    _ query: DynamicQuery, of collection: DynamicCollection, _ arguments: Arguments
  ) throws -> ExitCode {
    guard arguments.has("snippet") else {
      return try QueryCommand.output(query, of: collection, arguments)
    }
    for other in ["select", "format"] where arguments.has(other) {
      throw UsageError("--snippet and --\(other) exclude each other")
    }
    try printSnippets(query, collection)
    return .success
  }

  private static func printSnippets(
    _ query: DynamicQuery, _ collection: DynamicCollection
  ) throws {
    let fields = try collection.searchedFields(query)
    let keyField = try collection.keyField()
    let (open, close) = Console.outputIsTerminal ? ("\u{1B}[1m", "\u{1B}[0m") : ("[", "]")
    var found: [(key: String, snippet: Snippet)] = []
    Interruption.watch()
    try collection.forEach(query) { document in
      if Interruption.isWished { throw Failure("the search was stopped") }
      let snippets = fields.flatMap { texts(at: $0, in: document) }.map { query.snippet(of: $0) }
      let key = keyField.flatMap { document[$0] }
      let best = snippets.max { $0.highlights.count < $1.highlights.count }
      found.append((key?.plainText ?? "", best ?? query.snippet(of: "")))
    }
    let width = found.map(\.key.count).max() ?? 0
    for (key, snippet) in found {
      let space = String(repeating: " ", count: width - key.count + 2)
      let line = snippet.marked(from: open, to: close) { Table.printable(String($0)) }
      try Console.print(Table.printable(key) + space + line)
    }
  }

  private static func texts(at path: FieldPath, in document: DynamicDocument) -> [String] {
    var next = 0
    switch document.value(at: path, from: &next) {
    case .string(let text)?: return [text]
    case .array(let values)?:
      return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    default: return []
    }
  }
}
