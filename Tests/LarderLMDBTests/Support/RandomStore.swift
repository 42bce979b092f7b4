import Foundation
import LarderTestKit
@testable import LarderLMDB

/// Changes a store in every way that changes its pages.
struct RandomStore {
  var random: RandomSource

  /// A transaction of up to `count` changes: values of all sizes, up to runs of several pages, some
  /// of them overwritten by others, some deleted; now and then a database is emptied.
  mutating func change(_ environment: Environment, upTo count: Int) throws {
    var databases: [Database] = [.main]
    for name in ["documents/a", "documents/b", "documents/c"].prefix(random.int(1..<4)) {
      if let database = try environment.database(named: name, create: true) {
        databases.append(database)
      }
    }
    var transaction = try environment.beginWrite()
    for _ in 0..<random.int(1..<count + 1) {
      // The main database holds a record or two beside the names.
      let isMain = random.int(0..<50) == 0
      let database = isMain ? databases[0] : databases[random.int(1..<databases.count)]
      let key = isMain ? "state \(random.int(0..<3))" : key()
      switch random.int(0..<10) {
      case 0..<6: try transaction.put(value(), key, in: database)
      case 6..<9: _ = try transaction.delete(key, in: database)
      default: try deleteSome(&transaction, in: isMain ? databases[1] : database)
      }
    }
    if random.int(0..<30) == 0 { try transaction.empty(databases[databases.count - 1]) }
    if random.int(0..<8) == 0 { return }  // Aborted.
    try transaction.commit()
  }

  private mutating func deleteSome(
    _ transaction: inout WriteTransaction, in database: Database
  ) throws {
    let count = random.int(1..<40)
    var keys: [[UInt8]] = []
    let start = key()
    try transaction.withCursor(in: database) { cursor in
      guard try cursor.seek(atOrAfter: start) else { return }
      repeat { keys.append([UInt8](cursor.key)) } while try keys.count < count && cursor.next()
    }
    for key in keys { _ = try key.withUnsafeBytes { try transaction.delete($0, in: database) } }
  }

  private mutating func key() -> String {
    let number = random.int(0..<4000)
    // Long ones make branches of few keys, and so deep trees.
    return "\(number % 7) \(number)" + String(repeating: "k", count: number % 5 == 0 ? 300 : 3)
  }

  private mutating func value() -> String {
    let count =
      switch random.int(0..<12) {
      case 0: random.int(0..<2)
      case 1: random.int(1900..<2100)  // Around the size where a value gets pages of its own.
      case 2: random.int(4000..<4200)
      case 3: random.int(4096..<20_000)
      default: random.int(1..<300)
      }
    return String(
      repeating: Character(Unicode.Scalar(UInt8(97 + random.int(0..<26)))), count: count)
  }
}

/// What a walk over a file says that nobody has open.
func walk(_ path: String) throws -> PageReport {
  switch try MetaPages.read(PageFile(path)) {
  case .failure(let fault):
    var report = PageReport()
    report.faults = [fault]
    return report
  case .success(let metas):
    if let fault = try metas.contradiction(PageFile(path)) {
      var report = PageReport()
      report.faults = [fault]
      return report
    }
    var walk = try PageWalk(PageFile(path), metas.newest)
    try walk.run(metas.newest)
    return walk.report
  }
}
