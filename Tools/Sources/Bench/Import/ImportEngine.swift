import CBench
import Foundation

/// Who takes part in the import study, each as a process of its own.
enum ImportEngine: String, CaseIterable {
  case larder
  /// `peer.py`: `json.loads` or `csv`, and `sqlite3`.
  case python
  /// `peer.cpp`: simdjson, and SQLite from C.
  case simdjson
  /// Foundation's decoder of `Codable` types.
  case decoder = "JSONDecoder"

  /// What stands beside this file.
  private static func source(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
  }

  /// Compiles the peer that is compiled.
  ///
  /// - Returns: The program, or nil where the compiler or a library is missing; the compiler has said
  ///   which then.
  static func compilePeer(in folder: ScratchFolder) -> String? {
    let program = folder.path + "/peer"
    let child = runChild(
      [
        "clang++", "-O3", "-std=c++17", "-o", program, source("peer.cpp"), "-lsimdjson",
        "-lsqlite3",
      ],
      output: folder.path + "/compiler.txt")
    return child.status == 0 ? program : nil
  }

  /// The words of the command that does an operation; nil where the engine does not take part in it.
  ///
  /// - Parameters:
  ///   - store: The folder of the store, or of the database.
  ///   - peer: The compiled peer, if there is one.
  func command(
    _ operation: ImportOperation, _ files: ImportFiles, store: String, peer: String?
  ) -> [String]? {
    let out = store + "/exported.ndjson"
    let database = store + "/contacts.sqlite"
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    switch self {
    case .larder:
      let words: [String] =
        switch operation {
        case .parseNDJSON: ["parse", files.ndjson.path]
        case .parseCSV: ["parse", files.csv.path]
        case .importNew, .importUnchanged, .memory: ["import", files.ndjson.path]
        case .loadFixture: ["fixture", files.ndjson.path]
        case .export: ["export", out]
        }
      return [program, "import-child"] + words + [store]
    case .python:
      let words: [String]? =
        switch operation {
        case .parseNDJSON: ["parse-ndjson", files.ndjson.path]
        case .parseCSV: ["parse-csv", files.csv.path]
        case .importNew, .importUnchanged, .memory: ["import", files.ndjson.path, database]
        case .export: ["export", out, database]
        case .loadFixture: nil
        }
      return words.map { ["python3", Self.source("peer.py")] + $0 }
    case .simdjson:
      guard let peer else { return nil }
      switch operation {
      case .parseNDJSON: return [peer, "parse", files.ndjson.path]
      case .importNew, .importUnchanged, .memory:
        return [peer, "import", files.ndjson.path, database]
      case .parseCSV, .export, .loadFixture: return nil
      }
    case .decoder:
      guard operation == .loadFixture else { return nil }
      return [program, "import-child", "decode", files.ndjson.path, store]
    }
  }
}
