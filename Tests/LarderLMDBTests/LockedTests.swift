import LarderLMDB
import Testing

@Suite("locked values")
struct LockedTests {
  struct Refused: Error {}

  @Test("threads that change a locked value lose no change")
  func counting() async {
    let count = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
      }
    }
    #expect(count.withLock { $0 } == 80_000)
  }

  @Test("a body that throws lets go of the lock and keeps its change")
  func throwing() {
    let count = Locked(0)
    #expect(throws: Refused.self) {
      try count.withLock { count throws(Refused) in
        count = 7
        throw Refused()
      }
    }
    #expect(count.withLock { $0 } == 7)
  }
}
