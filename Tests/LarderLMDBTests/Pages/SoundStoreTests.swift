import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite struct SoundStoreTests {
  private let folder = TestFolder()

  private func environment() throws -> Environment {
    var options = Environment.Options()
    options.durability = .volatile
    return try Environment.open(at: folder.store, options: options)
  }

  @Test("no change that LMDB makes looks like damage")
  func random() throws {
    var store = RandomStore(random: RandomSource())
    let environment = try environment()
    var mostFree = 0

    for round in 0..<150 {
      try store.change(environment, upTo: round % 10 == 0 ? 2000 : 40)
      let report = try environment.checkPages()
      #expect(report.faults == [], "round \(round), \(store.random.hint)")
      #expect(report.isComplete)
      // Nobody else writes; the walk of a file that nobody has open compares more.
      #expect(try walk(folder.data).faults == [], "\(store.random.hint)")
      mostFree = max(mostFree, report.freePageCount)
      if !report.isSound { return }
    }

    #expect(mostFree > 100)
  }

  @Test("a store whose last commits lost their meta pages with the power looks sound")
  func lostMetaPages() throws {
    var store = RandomStore(random: RandomSource())
    let environment = try environment()
    let copy = folder.path + "/copy.mdb"
    var metas: [Int: Data] = [:]
    var looks = 0

    for round in 0..<150 {
      try store.change(environment, upTo: round % 10 == 0 ? 600 : 40)
      var bytes = try contents(of: folder.data)
      let last = try EditedFile(folder.data).meta.transaction
      metas[last] = bytes.prefix(2 * EditedFile.pageByteCount)
      // Without a flush behind each meta page, its commit and the pages of the next one can be
      // all that is lost, or all that is there.
      guard let earlier = metas[last - 2] else { continue }
      bytes.replaceSubrange(..<(2 * EditedFile.pageByteCount), with: earlier)
      try replaceContents(of: copy, by: bytes)

      let faults = try walk(copy).faults
      #expect(faults == [], "round \(round), \(store.random.hint)")
      looks += 1
      if !faults.isEmpty { return }
    }

    #expect(looks > 50)
  }

  @Test("a copy looks sound, compacted or not, and so does what is written to it")
  func copies() throws {
    var store = RandomStore(random: RandomSource())
    let environment = try environment()
    for _ in 0..<20 { try store.change(environment, upTo: 500) }

    for isCompacted in [false, true] {
      let target = folder.path + "/copy \(isCompacted)"
      try environment.copy(to: target, compacting: isCompacted)
      #expect(try walk(target + "/data.mdb").faults == [])
      let copy = try Environment.open(at: target)
      for _ in 0..<10 {
        try store.change(copy, upTo: 300)
        #expect(try copy.checkPages().faults == [])
      }
    }
  }

  @Test("a new store and one that was emptied look sound, and every page is accounted for")
  func empty() throws {
    let environment = try environment()
    #expect(try environment.checkPages().faults == [])

    var store = RandomStore(random: RandomSource(seed: 1))
    for _ in 0..<10 { try store.change(environment, upTo: 300) }
    for name in try environment.databaseNames() {
      let database = try #require(try environment.database(named: name, create: false))
      var transaction = try environment.beginWrite()
      try transaction.empty(database)
      try transaction.commit()
    }

    let report = try environment.checkPages()
    #expect(report.faults == [])
    #expect(report.freePageCount > 50)
    #expect(report.usedPageCount + report.freePageCount >= report.pageCount)
  }

  @Test("pages are checked while others write, and nothing looks damaged")
  func whileWriting() throws {
    let environment = try environment()
    let (commits, isOver, hasEnded) = (Locked(0), Flag(), Flag())
    let writer = OnThread {
      defer { hasEnded.set() }
      var store = RandomStore(random: RandomSource(seed: 2))
      while !isOver.isSet {
        try store.change(environment, upTo: 60)
        commits.withLock { $0 += 1 }
      }
    }
    while commits.withLock({ $0 }) < 150, !hasEnded.isSet {
      let report = try environment.checkPages()
      #expect(report.faults == [])
      if !report.isSound { break }
    }
    isOver.set()
    try writer.value()
  }

  @Test("a check can be ended early, and says so")
  func ended() throws {
    let environment = try environment()
    let database = try #require(try environment.database(named: "documents/a", create: true))
    var transaction = try environment.beginWrite()
    for number in 0..<6000 {
      try transaction.put(String(repeating: "v", count: 3000), "\(number)", in: database)
    }
    try transaction.commit()

    let report = try environment.checkPages { read, total in
      #expect(read <= total)
      return false
    }

    #expect(!report.isComplete)
    #expect(report.faults == [])
    #expect(try environment.checkPages().isComplete)
  }
}
