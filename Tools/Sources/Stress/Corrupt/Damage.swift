/// What can happen to a file that lies around, in the classes of the campaign.
enum Damage: CaseIterable {
  case bit, byte, header, meta, truncate, zero, swap, payload
  case noise, copy, burst, number
  /// Of an index, of values or of words: one that the pages do not show, as their order stays or is not looked at.
  case entry

  static let pageByteCount = 4096

  /// Damages a file of several pages in one place, and now and then in two or three.
  ///
  /// - Parameter entries: Where index entries stand, or records of searches.
  func apply(
    to bytes: inout [UInt8], entries: [Range<Int>], using random: inout SeededGenerator
  ) {
    if self == .entry {
      guard let entry = entries.randomElement(using: &random),
        let place = entry.randomElement(using: &random)
      else { return }
      return flip(&bytes, place, &random)
    }
    let isOnce = Int.random(in: 0..<4, using: &random) > 0
    for _ in 0..<(isOnce ? 1 : Int.random(in: 2...3, using: &random)) {
      applyOnce(to: &bytes, &random)
    }
  }

  private func applyOnce(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
    guard bytes.count >= 3 * Self.pageByteCount else { return }
    let pageCount = bytes.count / Self.pageByteCount
    let page = Int.random(in: 0..<pageCount, using: &random) * Self.pageByteCount
    let any = Int.random(in: 0..<bytes.count, using: &random)
    switch self {
    case .entry: break
    case .bit: flip(&bytes, any, &random)
    case .byte: bytes[any] = UInt8.random(in: 0...255, using: &random)
    case .header:
      // The header of 16 bytes, and the places of the first nodes behind it.
      let place = page + Int.random(in: 0..<48, using: &random)
      bytes[place] = UInt8.random(in: 0...255, using: &random)
    case .meta:
      let place =
        Int.random(in: 0..<2, using: &random) * Self.pageByteCount
        + Int.random(in: 0..<152, using: &random)
      if Bool.random(using: &random) {
        flip(&bytes, place, &random)
      } else {
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
    case .truncate: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
    case .zero: for place in page..<page + Self.pageByteCount { bytes[place] = 0 }
    case .swap:
      let other = Int.random(in: 0..<pageCount, using: &random) * Self.pageByteCount
      for place in 0..<Self.pageByteCount { bytes.swapAt(page + place, other + place) }
    case .noise:
      for place in page..<page + Self.pageByteCount {
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
    case .copy:
      let other = Int.random(in: 0..<pageCount, using: &random) * Self.pageByteCount
      bytes.replaceSubrange(
        page..<page + Self.pageByteCount, with: bytes[other..<other + Self.pageByteCount])
    case .burst:
      for place in any..<min(bytes.count, any + Int.random(in: 1..<64, using: &random)) {
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
    case .number:
      // One that could be there: small, or one more than it was.
      let place = any & ~1
      bytes[place] =
        Bool.random(using: &random) ? bytes[place] &+ 1 : UInt8.random(in: 0..<32, using: &random)
    case .payload:
      if let place = payload(bytes, &random) { flip(&bytes, place, &random) }
    }
  }

  private func flip(_ bytes: inout [UInt8], _ place: Int, _ random: inout SeededGenerator) {
    bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
  }

  /// A place among the nodes of a leaf, or on a page of one large value.
  private func payload(_ bytes: [UInt8], _ random: inout SeededGenerator) -> Int? {
    for _ in 0..<100 {
      let page =
        Int.random(in: 2..<bytes.count / Self.pageByteCount, using: &random) * Self.pageByteCount
      let isLeaf = bytes[page + 10] == 2
      let isOverflow = bytes[page + 10] == 4
      let start = isLeaf ? Int(bytes[page + 14]) | Int(bytes[page + 15]) << 8 : 16
      guard isLeaf || isOverflow, start < Self.pageByteCount else { continue }
      return page + Int.random(in: start..<Self.pageByteCount, using: &random)
    }
    return nil
  }
}
