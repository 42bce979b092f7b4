import Foundation
import Testing

/// The sources, read as text: a second way to write would pass every test of the first one.
@Suite struct CorridorSourceTests {
  /// What begins or ends a write, the files that may say it, and why.
  private static let allowed: [String: [String: String]] = [
    "beginWrite()": [
      "WriteScope.swift": "the one way to change a store",
      "Environment+Open.swift":
        "a new store's first transaction, before anybody else sees the file",
      "Environment+Databases.swift":
        "makes an empty database, whose handle no open write could use",
      "Store+Compact.swift": "the state record of a copy that nobody has open yet",
      "Environment+Rewrite.swift": "the records of a copy that nobody has open yet",
      "LogApart.swift": "a mutant, which breaks the rule for the campaigns to notice",
    ],
    ".commit()": [
      "WriteScope.swift": "the commit, and what a body undoes alone",
      "WriteTransaction.swift": "a transaction inside another one",
      "Environment+Open.swift": "as above",
      "Environment+Databases.swift": "as above",
      "Store+Compact.swift": "as above",
      "Environment+Rewrite.swift": "as above",
      "LogApart.swift": "as above",
    ],
    "WriteScope(": ["WriteScope.swift": "`Engine.transact`, which ends it too"],
  ]

  @Test("only the write scope begins and commits what changes a store", arguments: allowed.keys)
  func oneWay(_ call: String) throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources").standardizedFileURL
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var found: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      let isCalled = text.split(separator: "\n").contains { line in
        let code = line.split(separator: "//", omittingEmptySubsequences: false)[0]
        return code.contains(call) && !code.contains("func \(call)")
      }
      if isCalled { found.insert(file.lastPathComponent) }
    }

    let allowed = try #require(Self.allowed[call])
    #expect(found.subtracting(allowed.keys).isEmpty, "write through `Engine.perform` instead")
    #expect(Set(allowed.keys).subtracting(found).isEmpty, "these have no need any more")
  }
}
