import Foundation
import Larder
import LarderImport

/// What a process of its own does of the import study, so that its memory can be told from the rest:
/// `bench import-child parse|import|fixture|decode|export FILE STORE`. It prints how many documents there were.
enum ImportChild {
  enum Work: String {
    case parse, `import`, fixture, decode, export
  }

  static func run(_ work: Work, _ file: String, _ store: String) throws {
    var options = StoreOptions()
    // Beside the others' parsers, which have one.
    if work == .parse { options.readThreadCount = 1 }
    let store = try Store(at: URL(fileURLWithPath: store, isDirectory: true), options: options)
    switch work {
    case .parse:
      var options = ImportOptions()
      options.isDryRun = true
      print(
        try store.importDocuments(
          from: .file(file), into: collection, key: "id", options: options
        ).documentCount)
    case .import:
      let saved = try store.importDocuments(from: .file(file), into: collection, key: "id").saved
      print(saved.inserted + saved.unchanged)
    case .fixture:
      let url = URL(fileURLWithPath: file)
      print(try store.load(fixture: url, into: Contact.self).saved.inserted)
    case .decode: print(try decoded(file))
    case .export:
      print(
        try store.export(collection: collection, as: .ndjson, to: .file(file)).documentCount)
    }
    try store.close()
  }

  private static let collection = "contacts"

  /// How many contacts Foundation makes of the lines of a file.
  private static func decoded(_ file: String) throws -> Int {
    let decoder = JSONDecoder()
    return try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n"))
      .map { try decoder.decode(Contact.self, from: $0) }.count
  }
}
