import LarderSync
import LarderTestKit
import Synchronization
import Testing

@Suite struct BackoffTests {
  @Test("the longest pause doubles with each failure, up to the longest of all")
  func doubling() {
    let backoff = Backoff(random: { 1 })

    let pauses = (1...11).map { backoff.pause(after: $0) }

    #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { Duration.seconds($0) })
    #expect(backoff.pause(after: 1_000_000) == .seconds(300))
  }

  @Test(
    "a pause is the drawn part of the longest",
    arguments: [(0, 0), (0.25, 2), (0.5, 4), (1, 8), (-1, 0), (2, 8)])
  func drawing(draw: Double, seconds: Int) {
    #expect(Backoff(random: { draw }).pause(after: 4) == .seconds(seconds))
  }

  @Test("pauses are spread over the whole of what is allowed")
  func spread() {
    var random = RandomSource()
    let draws = Mutex((0..<1_000).map { _ in Double.random(in: 0...1, using: &random) })
    let backoff = Backoff(random: { draws.withLock { $0.removeLast() } })

    let pauses = (0..<1_000).map { _ in backoff.pause(after: 4) / .seconds(1) }

    #expect(pauses.allSatisfy { (0...8).contains($0) })
    for part in 0..<8 {
      let count = pauses.count { Int($0) == part }
      #expect((50...250).contains(count), "\(part): \(count); \(random.hint)")
    }
  }

  @Test("limits of any size are kept")
  func limits() {
    let far = Backoff(
      first: .seconds(Int64.max / 2), longest: .seconds(Int64.max), random: { 0.5 })
    #expect(far.pause(after: 5) > .seconds(Int64.max / 4))
    let near = Backoff(first: .nanoseconds(1), longest: .nanoseconds(1), random: { 1 })
    #expect(near.pause(after: 9) == .nanoseconds(1))
  }
}
