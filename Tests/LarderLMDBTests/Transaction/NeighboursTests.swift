import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite struct NeighboursTests {
  private let folder = TestFolder()

  /// What a walk finds: whether a key is there, and where the cursor then stands; nil behind the last.
  private struct Finding: Equatable {
    var isThere: Bool
    var standsOn: String?
  }

  @Test("ascending keys are found as by seeking each, whatever is written on the way")
  func agrees() throws {
    var random = RandomSource()
    let environment = try Environment.open(at: folder.store)
    let databases = try ["documents/a", "documents/b"].map {
      try #require(try environment.database(named: $0, create: true))
    }
    for round in 0..<repetitions(60) {
      // It is never committed, so that each round begins with nothing.
      var transaction = try environment.beginWrite()
      let step = random.pick([1, 1, 2, 7])
      let keys = (0..<random.int(0..<400)).map { String(1000 + step * $0) }
      let value = String(repeating: "v", count: random.int(1..<600))
      for database in databases {
        for key in keys { try transaction.put(value, key, in: database) }
      }
      // Some twice, in runs or here and there.
      let range = random.once(in: 3) ? 1000..<1100 : 990..<1000 + step * 400
      let isDense = random.bool()
      let sought = range.filter { _ in isDense || random.once(in: 5) }.flatMap {
        random.once(in: 20) ? [String($0), String($0)] : [String($0)]
      }
      let writes = sought.map { _ in random.int(0..<6) }
      let (plain, stepping) = try (
        findings(sought, writes, databases[0], &transaction, steps: false),
        findings(sought, writes, databases[1], &transaction, steps: true)
      )
      try #require(plain == stepping, "\(random.hint), round \(round)")
      let left = try databases.map { try all(&transaction, $0) }
      try #require(left[0] == left[1], "\(random.hint), round \(round)")
    }
  }

  /// Looks for each key and writes there: nothing, a deletion, another value, or a new record.
  private func findings(
    _ sought: [String], _ writes: [Int], _ database: Database,
    _ transaction: inout WriteTransaction, steps: Bool
  ) throws -> [Finding] {
    var cursor = try transaction.cursor(in: database)
    var (exact, next) = (Neighbours(), Neighbours())
    var findings: [Finding] = []
    for (index, (text, write)) in zip(sought, writes).enumerated() {
      try Array(text.utf8).withUnsafeBytes { key in
        var finding: Finding
        if index % 50 < 25 {
          let isThere = try steps ? exact.seek(key, &cursor) : cursor.seek(key)
          finding = Finding(isThere: isThere, standsOn: isThere ? text : nil)
        } else {
          let isThere =
            try steps
            ? next.seek(atOrAfter: key, &cursor)
            : cursor.seek(atOrAfter: key) ? cursor.key.elementsEqual(key) : nil
          finding = Finding(
            isThere: isThere == true,
            standsOn: isThere == nil ? nil : String(decoding: cursor.key, as: UTF8.self))
        }
        findings.append(finding)
        try Array("written \(index)".utf8).withUnsafeBytes { value in
          switch write {
          case 0 where finding.isThere: try cursor.delete()
          case 1 where finding.isThere: try cursor.put(value, for: key, .replaceCurrent)
          case 2: try cursor.put(value, for: key, .upsert)
          default: break
          }
        }
      }
    }
    return findings
  }

  private func all(
    _ transaction: inout WriteTransaction, _ database: Database
  ) throws -> [String] {
    var cursor = try transaction.cursor(in: database)
    var records: [String] = []
    while try cursor.next() {
      records.append(
        String(decoding: cursor.key, as: UTF8.self) + "="
          + String(decoding: cursor.value, as: UTF8.self))
    }
    return records
  }
}
