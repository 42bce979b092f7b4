internal import Dispatch

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// A task that saves one document after another is back a few microseconds after it was told that the
// last one is durable. Waking a sleeping thread for it takes longer than that, and is a tenth of a
// durable write. So the queue's thread waits a moment for it, awake, where that would have been worth
// it the last time, and the line is free meanwhile. Where the task's thread gets no processor its
// write comes too late, and nobody lingers for the next one.

/// Whether the thread of the writer's queue waits for a job without sleeping.
struct Lingering {
  private enum Phase {
    case none, waits, called
  }

  /// How long it does at most.
  static let nanoseconds: UInt64 = 50_000

  private var phase = Phase.none
  /// When the queue's thread had done a job that was alone; nil when it had not.
  private var idleSince: UInt64?
  /// Whether the last job came so soon that somebody who lingered would have met it.
  private var isWorthIt = false

  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// With one processor the task would wait for us, and we for it.
  private static let isUseful = ProcessInfo.processInfo.activeProcessorCount > 1

  var isCalled: Bool { phase == .called }

  /// The line is free; true when the queue's thread shall linger. Behind several jobs it does not:
  /// whose tasks come back do so one by one, and should share a transaction again.
  mutating func begin(behindOne wasAlone: Bool, at now: UInt64 = Self.now) -> Bool {
    idleSince = wasAlone ? now : nil
    guard wasAlone, isWorthIt, Self.isUseful else { return false }
    phase = .waits
    return true
  }

  /// Something has come to the free line; true when somebody lingers for it.
  mutating func call(at now: UInt64 = Self.now) -> Bool {
    if let idleSince { isWorthIt = now - idleSince < Self.nanoseconds }
    guard phase == .waits else { return false }
    phase = .called
    return true
  }

  /// Nobody lingers any more; true when somebody did.
  mutating func end() -> Bool {
    defer { phase = .none }
    return phase == .waits
  }
}
