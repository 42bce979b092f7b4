/// A store that is timed. The first engine of a run is the reference for all the others.
///
/// An engine is made for one workload, keeps its files in a folder of its own, and times itself, so
/// that only it decides what stands before and after the clock. To take part, conform and add the
/// engine to ``Bench/engines(_:in:)``.
protocol Engine {
  /// Short and stable: it names the engine in tables and JSON.
  var name: String { get }

  /// Runs an operation once, or returns nil if the engine takes no part in it.
  ///
  /// Called once in each round, in any order, and once before the first to see that the answer is
  /// right. Stores are made and filled when an operation first needs them, outside the time. A run
  /// must leave a store with the contents that it found, and bulk save must start from an empty
  /// store each time.
  func run(_ operation: Operation) throws -> Sample?
}

/// What one run of an operation took and what it returned.
struct Sample: Sendable {
  /// Seconds, or bytes, as ``Operation/unit`` says.
  var value: Double

  /// Must equal ``Operation/expectedChecksum(in:)``.
  var checksum: UInt64
}

/// An engine returned something else than the workload holds.
struct WrongResult: Error, CustomStringConvertible {
  var description: String
}
