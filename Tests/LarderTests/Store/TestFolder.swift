import Foundation
import LarderLMDB
import Testing

@testable import Larder

/// A folder of its own for one test, removed when the test lets go of it.
final class TestFolder: Sendable {
  let path: String

  init() {
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/larder-test-" + UUID().uuidString
    // A folder that cannot be made fails the test at its first use.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A leftover in the temporary folder harms no test.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Where the store is; not there yet.
  var store: String { path + "/store" }
  var data: String { store + "/data.mdb" }
  var lock: String { store + "/lock.mdb" }
  var opening: String { store + "/larder.lock" }
}

func contents(of path: String) throws -> Data {
  try Data(contentsOf: URL(filePath: path))
}

func replaceContents(of path: String, by bytes: Data) throws {
  try bytes.write(to: URL(filePath: path))
}

/// The permission bits of a file.
func mode(of path: String) -> UInt32 {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}

/// The store's error that `body` throws; nil when it throws none.
func storeError(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record("thrown was \(error), no StoreError", sourceLocation: sourceLocation)
  }
  return nil
}

/// Lends the LMDB environment of a store that is not open, to do to it what no store does.
func withEnvironment<Result>(
  _ folder: String, _ body: (Environment) throws -> Result
) throws -> Result {
  let environment = try Environment.open(at: folder, options: StoreOptions().environment)
  let result = try body(environment)
  try environment.close()
  return result
}

/// Turns one bit of the value under `key`; the position counts from the end where negative.
func flip(
  in environment: Environment, _ database: Database, key: [UInt8], at position: Int
) throws {
  var transaction = try environment.beginWrite()
  try key.withUnsafeBytes { key in
    var value = try #require(
      try transaction.withValue(for: key, in: database) { [UInt8]($0) })
    value[position < 0 ? value.count + position : position] ^= 0x10
    try value.withUnsafeBytes { try transaction.put($0, for: key, in: database) }
  }
  try transaction.commit()
}

extension DynamicCollection {
  /// All of them, in the order of their keys.
  func documents() throws -> [DynamicDocument] {
    var documents: [DynamicDocument] = []
    // It is no sequence: it lends the documents of one moment.
    // swift-format-ignore: ReplaceForEachWithForLoop
    try forEach { document in
      documents.append(document)
      return true
    }
    return documents
  }
}

/// A generator whose seed is printed by the test that uses it and can be given again in the
/// environment as `LARDER_SEED`.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// The seed of the environment, or else a random one.
  static func seed() -> UInt64 {
    ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
      ?? .random(in: 0...999_999)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
