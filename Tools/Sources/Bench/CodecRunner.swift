/// What a codec took for one direction.
struct CodecTiming {
  var direction: String
  var documents: Int
  var codec: String
  var spread: Spread
  /// By each of ``references``: the median over the rounds of this codec's time by its time in the
  /// same round.
  var ratios: [String: Double]

  /// The codecs that all are compared with.
  static let references = ["json", "swift-packed", "swift-limit", "swift-limit-record"]

  static func table(_ timings: [CodecTiming]) -> String {
    let rows = timings.map { timing in
      let count = Double(timing.documents)
      return [
        timing.direction, timing.codec, Report.nanoseconds(timing.spread.median / count),
      ] + references.map { timing.ratios[$0].map { Report.fixed($0, 2) } ?? "-" } + [
        "\(Report.nanoseconds(timing.spread.minimum / count)) - "
          + Report.nanoseconds(timing.spread.maximum / count)
      ]
    }
    let header =
      ["codec", "of", "per document"] + references.map { "to \($0)" } + ["spread"]
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
    zip(codecs, seconds).compactMap { codec, times in
      Spread(times).map { spread in
        CodecTiming(
          direction: direction, documents: count, codec: codec.name, spread: spread,
          ratios: ratios(of: times, codecs, seconds))
      }
    }
  }

  private func ratios(
    of times: [Double], _ codecs: [Codec], _ seconds: [[Double]]
  ) -> [String: Double] {
    var ratios: [String: Double] = [:]
    for (codec, reference) in zip(codecs, seconds)
    where CodecTiming.references.contains(codec.name) {
      ratios[codec.name] = Spread(zip(times, reference).map { $0 / $1 })?.median
    }
    return ratios
  }

  private func time(_ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try body()
    return (clock.now - start) / .seconds(1)
  }
}
