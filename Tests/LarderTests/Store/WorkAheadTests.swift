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

    try WorkAhead<Int, Int>.run(
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

    try WorkAhead<Int, Int>.run(
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
      try WorkAhead<Int, Int>.run(
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
      try WorkAhead<Int, Int>.run(
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

  @Test("what several threads make is used in the order in which it was taken", arguments: 1...5)
  func manyThreads(threadCount: Int) throws {
    var next = 0
    var used: [Int] = []
    let running = Locked((now: 0, most: 0))
    var random = RandomSource()
    let delays = (0..<300).map { _ in random.int(0..<200) }

    try WorkAhead<Int, Int>.run(
      most: threadCount + 1,
      take: {
        next += 1
        return next <= 300 ? next : nil
      },
      makers: (0..<threadCount).map { _ in
        { number in
          running.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
          }
          // Longer or shorter than those beside it.
          var sum = 0
          for index in 0..<delays[number - 1] * 100 { sum &+= index ^ sum }
          running.withLock { $0.now -= sum == .min ? 0 : 1 }
          return number * 2
        }
      },
      use: { used.append($0) })

    #expect(used == (1...300).map { $0 * 2 })
    #expect(running.withLock { $0.most } <= threadCount)
  }

  @Test("several threads make things at once")
  func beside() throws {
    let counts = (Locked(0), Locked(0))
    var next = 0
    try WorkAhead<Int, Int>.run(
      most: 2,
      take: {
        next += 1
        return next <= 2 ? next : nil
      },
      makers: [0, 1].map { _ in
        { number in
          // Neither goes on before the other has begun.
          counts.0.withLock { $0 += 1 }
          let end = ContinuousClock.now + .seconds(300)
          while counts.0.withLock({ $0 }) < 2 {
            if ContinuousClock.now > end { throw Failure() }
          }
          counts.1.withLock { $0 += 1 }
          return number
        }
      }, use: { _ in })
    #expect(counts.1.withLock { $0 } == 2)
  }

  @Test("no more waits than may, by weight, but for one thing more")
  func weight() throws {
    var random = RandomSource()
    let weights = (0..<200).map { _ in random.int(0..<50) }
    let taken = Locked(0)
    var (number, used, most) = (0, 0, 0)
    try WorkAhead<Int, Int>.run(
      most: 60, weight: { $0 },
      take: {
        guard number < weights.count else { return nil }
        number += 1
        taken.withLock { $0 += weights[number - 1] }
        return weights[number - 1]
      },
      makers: (0..<3).map { _ in { $0 } },
      use: { weight in
        used += weight
        most = max(most, taken.withLock { $0 } - used)
      })
    #expect(used == weights.reduce(0, +))
    // Fewer than 60 waited when the last one was taken, and its weight was below 50.
    #expect(most <= 59 + 49)
  }

  @Test(
    "what makers hold, and what they made in vain, is let go of when it returns",
    arguments: [false, true])
  func lifetime(fails: Bool) {
    final class Held: Sendable {}
    weak var held: Held?
    do {
      let object = Held()
      held = object
      var next = 0
      try? WorkAhead<Int, Held>.run(
        most: 4,
        take: { [object] in
          withExtendedLifetime(object) { next += 1 }
          return next <= 20 ? next : nil
        },
        makers: (0..<3).map { _ in { [object] _ in object } },
        use: { _ in if fails { throw Failure() } })
    }
    #expect(held == nil)
  }

  @Test("the first error is thrown, once all before it is used", arguments: [false, true])
  func firstFailure(isTaking: Bool) {
    struct Numbered: Error, Equatable { let number: Int }
    for first in [1, 2, 17] {
      var next = 0
      var used: [Int] = []

      #expect(throws: Numbered(number: first)) {
        try WorkAhead<Int, Int>.run(
          most: 8,
          take: {
            next += 1
            if isTaking, next >= first { throw Numbered(number: next) }
            return next
          },
          makers: (0..<3).map { _ in
            { number in
              if !isTaking, number >= first { throw Numbered(number: number) }
              return number
            }
          },
          use: { used.append($0) })
      }

      #expect(used == Array(1..<first))
      if isTaking { #expect(next == first) }
    }
  }

  @Test("several threads make nothing any more once the use has failed")
  func manyStopped() {
    let made = Locked(0)
    #expect(throws: Failure.self) {
      try WorkAhead<Int, Int>.run(
        most: 6, take: { 1 },
        makers: (0..<3).map { _ in
          { _ in
            made.withLock { count in
              count += 1
              return count
            }
          }
        },
        use: { _ in throw Failure() })
    }
    let count = made.withLock { $0 }
    #expect((1...7).contains(count))
    #expect(made.withLock { $0 } == count)
  }
}
