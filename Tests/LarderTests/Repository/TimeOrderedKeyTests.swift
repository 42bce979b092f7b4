import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct TimeOrderedKeyTests {
  @Test("a key is laid out as RFC 9562 shows in its appendix")
  func layout() {
    let key = TimeOrderedKeys.key(
      milliseconds: 0x017F_22E2_79B0, counter: 0xCC3, random: 0x18C4_DC0C_0C07_398F)

    #expect(key.uuidString == "017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
  }

  @Test("keys grow, on every thread, and tell the time at which they were made")
  func growing() async {
    let before = UInt64(Date().timeIntervalSince1970 * 1000)
    let runs = await withTaskGroup(of: [UUID].self) { group in
      for _ in 0..<4 { group.addTask { (0..<20_000).map { _ in UUID.timeOrdered() } } }
      return await group.reduce(into: []) { $0.append($1) }
    }

    for run in runs { #expect(zip(run, run.dropFirst()).allSatisfy { $0 < $1 }) }
    let keys = runs.flatMap { $0 }
    #expect(Set(keys).count == keys.count)
    #expect(
      keys.allSatisfy { $0.uuid.6 >> 4 == 7 && $0.uuid.8 >> 6 == 0b10 })
    let first = keys.map(\.uuidString).min()?.replacing("-", with: "").prefix(12)
    #expect(first.flatMap { UInt64($0, radix: 16) }.map { $0 >= before } == true)
  }

  @Test("keys grow when the clock stands still or goes back, and past what a millisecond counts")
  func clocks() {
    var keys = TimeOrderedKeys()
    var source = RandomSource()
    var made = [keys.next(milliseconds: 1000, start: 0x7FF, random: source.next())]
    for step in 0..<10_000 {
      let now: UInt64 = step % 3 == 0 ? 1000 : UInt64(1000 - step % 500)
      made.append(keys.next(milliseconds: now, start: 0, random: source.next()))
    }
    #expect(zip(made, made.dropFirst()).allSatisfy { $0 < $1 }, "\(source.hint)")
    let later = keys.next(milliseconds: 2000, start: 5, random: 0)
    #expect(later.uuidString == "00000000-07D0-7005-8000-000000000000")
  }

  @Test("documents under time-ordered keys stand in the order in which they were made")
  func asKeys() throws {
    try withTemporaryStore { store in
      let documents = (0..<100).map { Keyed(UUID.timeOrdered(), note: "\($0)") }
      try store.repository(of: Keyed<UUID>.self).save(documents.shuffled())

      #expect(try store.repository(of: Keyed<UUID>.self).fetch(Keyed<UUID>.all) == documents)
    }
  }
}
