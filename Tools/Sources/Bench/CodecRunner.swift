/// What a codec took for one direction.
struct CodecTiming {
  var direction: String
  var documents: Int
  var codec: String
  var spread: Spread
  /// Of the medians: this codec's by the first one's.
  var ratio: Double

  static func table(_ timings: [CodecTiming]) -> String {
    let rows = timings.map { timing in
      let count = Double(timing.documents)
      return [
        timing.direction, timing.codec, Report.nanoseconds(timing.spread.median / count),
        Report.fixed(timing.ratio, 2),
        "\(Report.nanoseconds(timing.spread.minimum / count)) - "
          + Report.nanoseconds(timing.spread.maximum / count),
      ]
    }
    let header = ["codec", "of", "per document", "to the first", "spread"]
    return Report.aligned([header] + rows, texts: [0, 1])
  }
}

/// Encodes and decodes with every codec in interleaved rounds.
struct CodecRunner {
  var rounds: Int

  /// More contacts tell nothing more of a codec.
  static let maximumCount = 10_000

  /// Returns one result for each codec and direction.
  ///
  /// - Throws: ``WrongResult`` when something else is decoded than was encoded, or whatever a codec
  ///   throws.
  func run(_ workload: Workload) throws -> [CodecTiming] {
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
    _ direction: String, _ count: Int, _ codecs: [Codec], _ seconds: [[Double]]
  ) -> [CodecTiming] {
    guard let reference = seconds.first.flatMap({ Spread($0) }) else { return [] }
    return zip(codecs, seconds).compactMap { codec, seconds in
      Spread(seconds).map { spread in
        CodecTiming(
          direction: direction, documents: count, codec: codec.name, spread: spread,
          ratio: spread.median / reference.median)
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
