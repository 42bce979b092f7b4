import CBench

/// Runs operations on engines in interleaved rounds: what disturbs the machine for a while then
/// disturbs every engine.
struct Runner {
  var engines: [any Engine]
  var rounds: Int

  /// Returns one result for each operation and engine that takes part in it.
  ///
  /// - Throws: ``WrongResult`` at the first checksum that is not the workload's own, or whatever an
  ///   engine throws.
  func run(_ operations: [Operation], _ workload: Workload) throws -> [Measurement] {
    var results: [Measurement] = []
    for operation in operations {
      let spreads = try values(of: operation, workload).map { Spread($0) }
      let medians = Dictionary(
        uniqueKeysWithValues: zip(engines, spreads).compactMap { engine, spread in
          spread.map { (engine.name, $0.median) }
        })
      for (engine, spread) in zip(engines, spreads) {
        guard let spread else { continue }
        results.append(
          Measurement(
            operation: operation.rawValue, unit: operation.unit, documents: workload.count,
            handled: max(1, operation.documents(in: workload)), engine: engine.name,
            spread: spread, ratios: medians.mapValues { spread.median / $0 }))
      }
    }
    return results
  }

  /// The values of each round, by engine. The engine that starts changes with every round; before
  /// the first one all engines have answered once, and rightly.
  private func values(of operation: Operation, _ workload: Workload) throws -> [[Double]] {
    let expected = operation.expectedChecksum(in: workload)
    for engine in engines { _ = try value(of: operation, engine, expected, workload.count) }
    var values = engines.map { _ in [Double]() }
    for round in 0..<rounds {
      for turn in engines.indices {
        let index = (turn + round) % engines.count
        if let value = try value(of: operation, engines[index], expected, workload.count) {
          values[index].append(value)
        }
      }
    }
    return values
  }

  private func value(
    of operation: Operation, _ engine: any Engine, _ expected: UInt64, _ documents: Int
  ) throws -> Double? {
    guard let sample = try engine.run(operation) else { return nil }
    bench_memory_sweep(20 * documents)  // A document is in ten pieces; twice that.
    guard sample.checksum == expected else {
      throw WrongResult(
        description: "\(engine.name) returned a wrong result for \(operation.rawValue)")
    }
    return sample.value
  }
}
