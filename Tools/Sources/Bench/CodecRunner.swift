/// Encodes and decodes with every codec in interleaved rounds.
struct CodecRunner {
  var rounds: Int

  /// More contacts tell nothing more of a codec.
  static let maximumCount = 10_000

  /// Returns one result for each codec and direction.
  ///
  /// - Throws: ``WrongResult`` when something else is decoded than was encoded, or whatever a codec
  ///   throws.
  func run(_ workload: Workload) throws -> [Timing] {
    let contacts = Array(workload.contacts.prefix(Self.maximumCount))
    let codecs = try Codec.all(contacts)
    let expected = contacts.reduce(0) { $0 &+ $1.glance }
    var encoding = codecs.map { _ in [Double]() }
    var decoding = encoding
    for round in 0..<rounds {
      for turn in codecs.indices {
        let index = (turn + round) % codecs.count
        encoding[index].append(
          try time {
            guard try codecs[index].encode() > 0 else { throw wrong(codecs[index]) }
          })
        decoding[index].append(
          try time {
            guard try codecs[index].decode() == expected else { throw wrong(codecs[index]) }
          })
      }
    }
    return timings("encode", contacts.count, codecs, encoding)
      + timings("decode", contacts.count, codecs, decoding)
  }

  private func wrong(_ codec: Codec) -> WrongResult {
    WrongResult(description: "\(codec.name) decoded something else than it had encoded")
  }

  private func timings(
    _ operation: String, _ count: Int, _ codecs: [Codec], _ seconds: [[Double]]
  ) -> [Timing] {
    guard let reference = seconds.first.flatMap({ Spread($0) }) else { return [] }
    return zip(codecs, seconds).compactMap { codec, seconds in
      Spread(seconds).map { spread in
        Timing(
          operation: operation, documents: count, handled: count, engine: codec.name,
          spread: spread, ratio: spread.median / reference.median)
      }
    }
  }

  private func time(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try body()
    return (clock.now - start) / .seconds(1)
  }
}
