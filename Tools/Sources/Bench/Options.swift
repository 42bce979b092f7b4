import Foundation

/// What the command line asks for.
struct Options {
  enum Command {
    case engines, codecs, layouts, concurrency, `import`, sync, search, help
    /// The other process of the study of watching.
    case saveForWatchers(folder: String)
    /// One turn of the import study.
    case importChild(ImportChild.Work, file: String, store: String)
  }

  var command = Command.engines
  var scales: [Int] = []
  var only: [Operation] = []
  var onlyStudied: [StudiedOperation] = []
  var onlySearched: [SearchOperation] = []
  var onlySynced: [SyncStudy.Part] = []
  var rounds = 5
  var json: URL?
  var html: URL?
  var folder = Self.defaultFolder
  /// Where a flush costs what it costs.
  var diskFolder = FileManager.default.temporaryDirectory
  var mapByteCount = 1 << 36
  /// The file with the prose that `bench search` searches.
  var texts: URL?

  /// Whether everything is asked for.
  var isWhole: Bool { only.isEmpty && onlyStudied.isEmpty }

  static let usage = """
    usage: bench [codecs|layouts|concurrency|import|sync|search] [--scale 1k|10k|100k|1m]...
                 [--only OPERATION]...
                 [--rounds N] [--json FILE] [--html FILE] [--folder FOLDER] [--map-mb N]
                 [--quick]

    Times each engine on one workload, in interleaved rounds, and prints medians. An engine that
    returns a wrong result ends the run with status 1; a time never does.

      codecs    encodes and decodes without a store, beside JSON; part of a run without --only
      layouts   compares two ways of laying out a collection in LMDB instead
      concurrency  counts reads by key beside a writer, and beside none, instead
      import    times imports and exports instead, beside Python and a program with simdjson
      sync      times the outbox, pushes and loads instead, beside curl; Tools/bench starts the server
      search    times full-text search instead, beside FTS5; Tools/bench fetches its texts
      --scale   how many documents: 1k, 2k, 10k, 20k, 100k, 200k or 1m; 100k unless told; may be given
                several times
      --only    one operation; may be given several times
      --rounds  5 unless told
      --json    writes the results as an array of objects as well
      --html    writes them as a page with bars as well; it needs nothing but itself
      --folder  where the stores stand while the run lasts: /dev/shm if there is one; durable
                writes go to the folder for temporary files then, as memory has nothing to flush
      --map-mb  the largest size of a store in MB; a program like valgrind needs it small
      --quick   10k documents, 3 rounds

    operations: \(operationNames.joined(separator: ", "))
    of search: \(SearchOperation.allCases.map(\.rawValue).joined(separator: ", "))
    of sync: \(SyncStudy.Part.allCases.map(\.rawValue).joined(separator: ", "))
    """

  private static var operationNames: [String] {
    Operation.allCases.map(\.rawValue) + StudiedOperation.allCases.map(\.rawValue)
  }

  /// Reads the arguments that follow the program's name.
  ///
  /// - Throws: ``UsageError`` for an argument or a value that is not known.
  init(_ arguments: some Sequence<String>) throws {
    var rounds: Int?
    var quick = false
    var rest = arguments.makeIterator()
    func value(of option: String) throws -> String {
      guard let value = rest.next() else { throw UsageError("\(option) needs a value") }
      return value
    }
    while let argument = rest.next() {
      switch argument {
      case "codecs": command = .codecs
      case "layouts": command = .layouts
      case "save-for-watchers": command = .saveForWatchers(folder: try value(of: argument))
      case "concurrency": command = .concurrency
      case "import": command = .import
      case "sync": command = .sync
      case "search": command = .search
      case "import-child":
        guard let work = ImportChild.Work(rawValue: try value(of: argument)) else {
          throw UsageError("import-child parse|import|fixture|decode|export FILE STORE")
        }
        let file = try value(of: argument)
        command = .importChild(work, file: file, store: try value(of: argument))
      case "--help", "-h": command = .help
      case "--quick": quick = true
      case "--scale": scales.append(try Self.scale(value(of: argument)))
      case "--only": try addOperation(value(of: argument))
      case "--rounds": rounds = try Self.number(value(of: argument))
      case "--json": json = URL(fileURLWithPath: try value(of: argument))
      case "--texts": texts = URL(fileURLWithPath: try value(of: argument))
      case "--html": html = URL(fileURLWithPath: try value(of: argument))
      case "--map-mb": mapByteCount = try Self.number(value(of: argument)) << 20
      case "--folder":
        folder = URL(fileURLWithPath: try value(of: argument), isDirectory: true)
        diskFolder = folder
      default: throw UsageError("\(argument) is not an option; bench --help lists them")
      }
    }
    self.rounds = rounds ?? (quick ? 3 : 5)
    if scales.isEmpty { scales = [quick ? 10_000 : 100_000] }
  }

  private static var defaultFolder: URL {
    let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    let exists = FileManager.default.fileExists(atPath: memory.path)
    return exists ? memory : FileManager.default.temporaryDirectory
  }

  private static func scale(_ text: String) throws -> Int {
    switch text {
    case "1k": return 1_000
    case "2k": return 2_000
    case "10k": return 10_000
    case "20k": return 20_000
    case "100k": return 100_000
    case "200k": return 200_000
    case "1m": return 1_000_000
    default:
      throw UsageError("\(text) is not a scale; there are 1k, 2k, 10k, 20k, 100k, 200k and 1m")
    }
  }

  private mutating func addOperation(_ text: String) throws {
    if let operation = Operation(rawValue: text) {
      only.append(operation)
    } else if let operation = StudiedOperation(rawValue: text) {
      onlyStudied.append(operation)
    } else if let operation = SearchOperation(rawValue: text) {
      onlySearched.append(operation)
    } else if let part = SyncStudy.Part(rawValue: text) {
      onlySynced.append(part)
    } else {
      throw UsageError("\(text) is not an operation; bench --help lists them")
    }
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw UsageError("\(text) is not a number from 1 on")
    }
    return number
  }
}

/// The command line asks for something that there is not.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
