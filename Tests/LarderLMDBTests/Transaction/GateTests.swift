import Foundation
import LarderTestKit
import Synchronization
import Testing

@testable import LarderLMDB

@Suite struct GateTests {
  private final class Shared: Sendable {
    let gate = Gate()
    let inside = Atomic<Int>(0)
    let isDone = Atomic<Bool>(false)
    let seen = Atomic<Int>(0)

    // What is expected of something that cannot be copied must be asked for apart.
    var seenCount: Int { seen.load(ordering: .relaxed) }
    var runningCount: Int { gate.runningCount }
    var isShut: Bool { gate.isShut }
    var closure: Gate.Closure? { gate.closure }
    func enter() -> Bool { gate.enter() }
    func entersLate() -> Bool { gate.enterLate() }
    func endsIfEmpty() -> Bool { gate.endIfEmpty() }
  }

  /// Runs `body` on threads of its own, and returns when all have ended.
  private func threads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
    let running = (0..<count).map { number in OnThread { body(number) } }
    for thread in running { try thread.value() }
  }

  @Test("who is alone is alone, whatever threads come and go, and on whichever they leave")
  func alone() throws {
    let shared = Shared()
    let rounds = 3000

    try threads(6) { number in
      if number == 0 {
        var count = 0
        while count < rounds {
          guard shared.gate.enter() else { return }
          let isAlone = shared.gate.alone(until: SystemCall.seconds + 1000) {
            let before = shared.inside.load(ordering: .relaxed)
            for _ in 0..<200 where shared.inside.load(ordering: .relaxed) != 0 {
              shared.seen.add(1, ordering: .relaxed)
            }
            shared.seen.add(before, ordering: .relaxed)
          }
          if !isAlone { shared.seen.add(1, ordering: .relaxed) }
          shared.gate.leave()
          count += 1
        }
        shared.isDone.store(true, ordering: .relaxed)
        return
      }
      while !shared.isDone.load(ordering: .relaxed) {
        guard shared.gate.enter() else { return }
        shared.inside.add(1, ordering: .relaxed)
        shared.inside.subtract(1, ordering: .relaxed)
        // One that is handed over leaves elsewhere.
        if number == 1 {
          Thread.detachNewThread { shared.gate.leave() }
        } else {
          shared.gate.leave()
        }
      }
    }

    #expect(shared.seenCount == 0)
    let end = SystemCall.seconds + 1000
    while shared.gate.runningCount != 0, SystemCall.seconds < end {
      SystemCall.sleep(microseconds: 100)
    }
    #expect(shared.runningCount == 0)
  }

  @Test("two who want to be alone both are, one after the other")
  func both() throws {
    let shared = Shared()

    try threads(2) { _ in
      for _ in 0..<200 {
        guard shared.gate.enter() else { return }
        _ = shared.gate.alone(until: SystemCall.seconds + 1000) {
          if shared.inside.add(1, ordering: .relaxed).newValue != 1 {
            shared.isDone.store(true, ordering: .relaxed)
          }
          shared.inside.subtract(1, ordering: .relaxed)
          shared.seen.add(1, ordering: .relaxed)
        }
        shared.gate.leave()
      }
    }

    #expect(shared.seenCount == 400)
    let wasCrowded = shared.isDone.load(ordering: .relaxed)
    #expect(!wasCrowded)
    #expect(shared.runningCount == 0)
  }

  @Test("who waits for another that stays gives up, and lets others in again")
  func occupied() throws {
    let shared = Shared()
    #expect(shared.enter())
    #expect(shared.enter())
    var hasRun = false

    let isAlone = shared.gate.alone(until: SystemCall.seconds + 0.01) { hasRun = true }

    #expect(!isAlone && !hasRun)
    try threads(1) { _ in
      if shared.gate.enter() { shared.seen.store(1, ordering: .relaxed) }
    }
    #expect(shared.seenCount == 1)
    #expect(shared.runningCount == 3)
    shared.gate.leave()
    shared.gate.leave()
    let isAloneThen = shared.gate.alone(until: SystemCall.seconds + 1000) { hasRun = true }
    #expect(isAloneThen && hasRun)
  }

  @Test("a gate that is shut lets nobody in, counts who is inside, and opens again")
  func shut() {
    let shared = Shared()
    #expect(shared.enter())
    shared.gate.shut()

    #expect(shared.isShut)
    #expect(!shared.enter())
    #expect(shared.runningCount == 1)

    shared.gate.reopen()
    #expect(shared.enter())
    #expect(shared.runningCount == 2)
    shared.gate.leave()
    shared.gate.leave()
    #expect(shared.runningCount == 0)
  }

  @Test(
    "who came before a gate was shut may enter it until it has ended, which it cannot around him")
  func late() throws {
    let shared = Shared()
    shared.gate.shut()
    #expect(!shared.enter())
    #expect(shared.entersLate())
    #expect(!shared.endsIfEmpty())
    shared.gate.leave()
    #expect(shared.endsIfEmpty())
    #expect(!shared.entersLate())

    for _ in 0..<2000 {
      let shared = Shared()
      shared.gate.shut()
      // Each sees the other.
      let ending = Atomic<Bool>(false)
      try threads(2) { number in
        if number == 0 {
          if shared.entersLate() { shared.seen.add(1, ordering: .relaxed) }
        } else if shared.endsIfEmpty() {
          ending.store(true, ordering: .relaxed)
        }
      }
      let hasEnded = ending.load(ordering: .relaxed)
      #expect(hasEnded == (shared.seenCount == 0))
    }
  }

  @Test("who waits for another to be alone stays counted, and does nothing once the gate has ended")
  func waiting() throws {
    let shared = Shared()
    for _ in 0..<3 { #expect(shared.enter()) }
    func alone(_ body: @escaping @Sendable () -> Void) -> OnThread<Bool> {
      OnThread {
        defer { shared.gate.leave() }
        return shared.gate.alone(until: SystemCall.seconds + 1000, body)
      }
    }
    // We are inside as well: both want to be alone, and neither can be.
    let body: @Sendable () -> Void = {
      shared.seen.add(1, ordering: .relaxed)
      // The other one makes way, and is not gone: who closes has to wait for it.
      if shared.gate.runningCount != 2 { shared.inside.add(1, ordering: .relaxed) }
      // As one who finds that there is nothing inside any more.
      shared.gate.end()
    }
    let both = [alone(body), alone(body)]
    // Until the second one waits for the first.
    while !shared.gate.hasWaiter { SystemCall.sleep(microseconds: 100) }
    shared.gate.leave()

    let ran = try both.map { try $0.value() }
    #expect(ran.count { $0 } == 1)
    #expect(shared.seenCount == 1)
    let others = shared.inside.load(ordering: .relaxed)
    #expect(others == 0)
    #expect(shared.runningCount == 0)
  }

  @Test("a gate that has ended stays shut, whoever opens it again")
  func ended() throws {
    let shared = Shared()
    shared.gate.end()
    shared.gate.rest()
    shared.gate.reopen()

    try #require(shared.isShut)
    #expect(!shared.enter())
    #expect(shared.closure == .ended)
  }
}
