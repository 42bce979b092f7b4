/// Runs operations on engines in interleaved rounds: what disturbs the machine for a while then
/// disturbs every engine.
struct Runner {
  var engines: [any Engine]
  var rounds: Int

  /// Returns one result for each operation and engine that takes part in it.
  ///
  /// - Throws: ``WrongResult`` at the first checksum that is not the workload's own, or whatever an
  ///   engine throws.
  func run(_ operations: [Operation], _ workload: Workload) async throws -> [Timing] {
    if operations.contains(where: { $0 != .bulkSave }) {
      for engine in engines { try await engine.fill() }
    }
    var results: [Timing] = []
    for operation in operations {
      let seconds = try await seconds(of: operation, workload)
      let reference = seconds.first.flatMap { Spread($0) }
      for (engine, seconds) in zip(engines, seconds) {
        guard let spread = Spread(seconds), let reference else { continue }
        results.append(
          Timing(
            operation: operation.rawValue, documents: workload.count,
            handled: operation.documents(in: workload), engine: engine.name, spread: spread,
            ratio: spread.median / reference.median))
      }
    }
    return results
  }

  /// The seconds of each round, by engine. The engine that starts changes with every round.
  private func seconds(of operation: Operation, _ workload: Workload) async throws -> [[Double]] {
    let expected = operation.expectedChecksum(in: workload)
    var seconds = engines.map { _ in [Double]() }
    for round in 0..<rounds {
      for turn in engines.indices {
        let index = (turn + round) % engines.count
        guard let sample = try await engines[index].run(operation) else { continue }
        guard sample.checksum == expected else {
          throw WrongResult(
            description: "\(engines[index].name) returned a wrong result for \(operation.rawValue)")
        }
        seconds[index].append(sample.seconds)
      }
    }
    return seconds
  }
}

/// What an engine took for an operation.
struct Timing {
  var operation: String
  var documents: Int
  /// The documents that one run of the operation handles.
  var handled: Int
  var engine: String
  var spread: Spread
  /// Of the medians: this engine's by the reference's.
  var ratio: Double
}
