import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite struct FileGrowthTests {
  private let folder = TestFolder()
  private let events = Locked<[LogEvent]>([])

  private func open() throws -> Store {
    var options = StoreOptions()
    options.log = { [events] event in events.withLock { $0.append(event) } }
    options.changeLog.maximumByteCount = 10_000
    return try Store(at: folder.store, options: options)
  }

  private var warnings: [LogEvent] {
    events.withLock { $0.filter { $0.message.contains("mostly free pages") } }
  }

  private func save(_ round: Int, count: Int = 500, in store: Store) throws {
    try store.repository(of: Account.self).save(
      (0..<count).map {
        Account(number: $0, balance: round, text: String(repeating: "x", count: 1000))
      })
  }

  @Test("a file that grows under a snapshot is told of, and one that is full of documents is not")
  func growth() throws {
    let store = try open()
    try save(0, count: 5000, in: store)
    let full = try store.statistics().fileByteCount
    #expect(full > FileGrowth.smallByteCount)
    #expect(warnings.isEmpty)

    try store.read { _ in
      var round = 0
      while try store.statistics().fileByteCount < 5 * full {
        round += 1
        try save(round, in: store)
      }
    }

    #expect((1...3).contains(warnings.count))
    let told = try #require(warnings.first)
    #expect(told.level == .warning)
    #expect(told.message.contains("compact"))
    let (bytes, used) = (told.metadata["bytes"].flatMap(Int.init), told.metadata["used"])
    #expect(try #require(bytes) > 2 * (try #require(used.flatMap(Int.init))))
    try verifyAndClose(store)
  }

  @Test("a file that was compacted is told of again when it grows again")
  func again() throws {
    let store = try open()
    var told = 0
    for round in 1...2 {
      try store.read { _ in
        var number = 0
        while try store.statistics().fileByteCount < 12 << 20 {
          number += 1
          try save(round * 1000 + number, in: store)
        }
      }
      #expect(warnings.count > told)
      told = warnings.count
      try store.compact(timeout: .seconds(600))
      #expect(try store.statistics().fileByteCount < FileGrowth.smallByteCount)
    }
    try verifyAndClose(store)
  }
}
