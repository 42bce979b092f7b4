import Foundation
import LarderLMDB
import Testing

@Suite struct CommitBellTests {
  let folder = TemporaryFolder()

  /// What stands where commits ring.
  private func rung() throws -> Int {
    let bytes = try contents(folder.opening).dropFirst(64).prefix(8)
    return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  @Test("each commit rings with its number in the lock file, and what is undone does not")
  func rings() throws {
    let environment = try Environment.open(at: folder.store)
    #expect(environment.bellPath == folder.opening)
    for number in 0..<3 {
      try environment.store(["key": "\(number)"])
      #expect(try rung() == environment.statistics().lastTransactionID)
    }
    let last = try rung()

    do {
      let transaction = try environment.beginWrite()
      _ = consume transaction
    }

    #expect(try rung() == last)
    try environment.close()
  }
}
