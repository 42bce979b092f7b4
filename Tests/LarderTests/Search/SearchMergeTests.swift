import Testing

@testable import Larder

@Suite("which segments of a search index are merged")
struct SearchMergeTests {
  /// The sizes of segments behind one another after a merge was chosen and done; the same ones where none was.
  private func merged(_ counts: [Int], living: Int? = nil) -> [Int] {
    var header = SearchHeader()
    for count in counts {
      header.segments.append(
        SearchHeader.Segment(
          number: header.nextSegment, firstID: header.nextID, endID: header.nextID + UInt32(count),
          documentCount: count, byteCount: count * 100))
      header.nextID += UInt32(count)
      header.nextSegment += 1
    }
    header.documentCount = living ?? counts.reduce(0, +)
    header.planMerge()
    guard let merge = header.merge else { return counts }
    var result = counts
    result.replaceSubrange(merge.range, with: [counts[merge.range].reduce(0, +)])
    return result
  }

  @Test("six of one size are, and larger ones in front of them are not")
  func ofOneSize() {
    #expect(merged([64, 64, 64, 64, 64]) == [64, 64, 64, 64, 64])
    #expect(merged([64, 64, 64, 64, 64, 64]) == [384])
    #expect(merged([200_000, 64, 64, 64, 64, 64, 64]) == [200_000, 384])
    #expect(merged([200_000, 384, 384, 64, 64, 64]) == [200_000, 384, 384, 64, 64, 64])
    #expect(merged([384, 384, 384, 384, 384, 384, 5]) == [384 * 6 + 5])
  }

  @Test("twelve of any size are, but for large ones in front; or all, of which few are left")
  func ofAnySize() {
    let eleven = [200_000, 14_000, 14_000, 2_400, 2_400, 384, 384, 384, 64, 64, 64]
    #expect(merged(eleven) == eleven)
    #expect(merged(eleven + [64]) == [200_000, 34_208])
    #expect(merged([64, 50_000], living: 100) == [50_064])
    #expect(merged([64, 50_000], living: 49_000) == [64, 50_000])
  }

  @Test("a document is written about as often as the index has grown by six times, while it grows")
  func amplification() {
    var (counts, written) = ([Int](), 0)
    for _ in 0..<6_000 {
      counts.append(64)
      while true {
        let next = merged(counts)
        if next == counts { break }
        written += next.last ?? 0
        counts = next
      }
      #expect(counts.count < SearchHeader.maximumSegmentCount)
    }
    // 384,000 documents are 6,000 times the smallest segment: six to the power of 4.9.
    #expect(Double(written) / 384_000 < 6.5)
  }
}
