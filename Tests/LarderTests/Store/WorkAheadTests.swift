import LarderLMDB
import LarderTestKit
import Testing

@testable import Larder

@Suite("Work on another thread, ahead of what is used")
struct WorkAheadTests {
  private struct Failure: Error {}

  @Test("everything is used in the order in which it was made")
  func order() throws {
    var next = 0
    var used: [Int] = []

    try WorkAhead<Int>.run(
      most: 2, counts: { $0 % 2 == 0 },
      make: {
        next += 1
        return next <= 500 ? next : nil
      }, use: { used.append($0) })

    #expect(used == Array(1...500))
  }

  @Test("no more is made than may wait, and one that is being used")
  func bound() throws {
    let made = Locked(0)
    var used = 0
    var most = 0

    try WorkAhead<Int>.run(
      most: 3, counts: { _ in true },
      make: {
        made.withLock { count in
          count += 1
          return count <= 200 ? count : nil
        }
      },
      use: { _ in
        used += 1
        most = max(most, made.withLock { $0 } - used)
      })

    #expect(used == 200)
    // Those that wait, and the next one, for which there is room as soon as one is taken.
    #expect(most <= 4)
  }

  @Test("what was made before an error is used before it is thrown")
  func failure() {
    var next = 0
    var used: [Int] = []

    #expect(throws: Failure.self) {
      try WorkAhead<Int>.run(
        most: 2, counts: { _ in true },
        make: {
          next += 1
          if next > 7 { throw Failure() }
          return next
        }, use: { used.append($0) })
    }

    #expect(used == Array(1...7))
  }

  @Test("nothing is made any more once the use has failed")
  func stopped() {
    let made = Locked(0)

    #expect(throws: Failure.self) {
      try WorkAhead<Int>.run(
        most: 2, counts: { _ in true },
        make: {
          made.withLock { count in
            count += 1
            return count
          }
        },
        use: { if $0 == 5 { throw Failure() } })
    }

    let count = made.withLock { $0 }
    #expect(count >= 5)
    // There is no thread left that could make another.
    #expect(made.withLock { $0 } == count)
  }
}
