internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The wall clock by which leases begin and end; tests put another one in its place.
final class LeaseClock: Sendable {
  private let source = Locked<@Sendable () -> Double> { Date.now.timeIntervalSinceReferenceDate }

  /// Seconds since the reference date, as a lease stores them.
  var now: Double { source.withLock { $0 }() }

  func use(_ source: @escaping @Sendable () -> Double) { self.source.withLock { $0 = source } }
}
