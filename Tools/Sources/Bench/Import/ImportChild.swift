import Foundation
import Larder
import LarderImport

/// What a process of its own does of the import study, so that its memory can be told from the rest:
/// `bench import-child parse|import|export FILE STORE`. It prints how many documents there were.
enum ImportChild {
  enum Work: String {
    case parse, `import`, export
  }

  static func run(_ work: Work, _ file: String, _ store: String) throws {
    let store = try Store(at: URL(fileURLWithPath: store, isDirectory: true))
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
    case .export:
      print(
        try store.export(collection: collection, as: .ndjson, to: .file(file)).documentCount)
    }
    try store.close()
  }

  private static let collection = "contacts"
}
