/// A store that is timed. The first engine of a run is the reference for all the others.
///
/// An engine is made for one workload, keeps its files in a folder of its own, and times itself, so
/// that only it decides what stands before and after the clock. To take part, conform and add the
/// engine to ``Bench/engines(_:in:)``.
protocol Engine {
  /// Short and stable: it names the engine in tables and JSON.
  var name: String { get }

  /// Makes the store that holds the whole workload, for every operation but ``Operation/bulkSave``.
  ///
  /// Called once, before the first round, and not timed.
  func fill() async throws

  /// Runs an operation once, or returns nil if the engine takes no part in it.
  ///
  /// Called once in each round, in any order. A run must leave the store with the contents that it
  /// found, and bulk save must start from an empty store each time.
  func run(_ operation: Operation) async throws -> Sample?
}

/// What one run of an operation took and what it returned.
struct Sample: Sendable {
  var seconds: Double

  /// Must equal ``Operation/expectedChecksum(in:)``.
  var checksum: UInt64
}

/// An engine returned something else than the workload holds.
struct WrongResult: Error, CustomStringConvertible {
  var description: String
}
