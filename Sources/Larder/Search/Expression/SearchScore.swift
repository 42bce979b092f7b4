#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// How well documents match: Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
/// and Beyond", Foundations and Trends in Information Retrieval 3, 2009) over weighted frequencies.
struct SearchScore {
  static let saturation = 1.2
  static let lengthShare = 0.75

  private let idf: Double
  private let meanLength: Double

  /// - Parameter term: The place of the term among those that are wanted.
  init(_ statistics: SearchStatistics, term: Int) {
    let frequency = Double(statistics.frequencies[term])
    let count = Double(max(statistics.documentCount, statistics.frequencies[term]))
    idf = log1p((count - frequency + 0.5) / (frequency + 0.5))
    meanLength = max(statistics.meanLength, 1)
  }

  /// What a term adds to the score of a document.
  ///
  /// - Parameters:
  ///   - frequency: How often it is there, by weight.
  ///   - length: The weighted words of the document.
  func part(frequency: UInt32, length: UInt32) -> Double {
    let tf = Double(frequency)
    let norm =
      Self.saturation * (1 - Self.lengthShare + Self.lengthShare * Double(length) / meanLength)
    return idf * (tf * (Self.saturation + 1)) / (tf + norm)
  }
}
