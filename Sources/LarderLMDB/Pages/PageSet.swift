/// Numbers of pages, a bit for each.
struct PageSet: ~Copyable {
  private var words: [UInt64]
  private(set) var count = 0

  /// - Parameter limit: All numbers are below it.
  init(limit: Int) { words = [UInt64](repeating: 0, count: limit / 64 + 1) }

  func contains(_ page: Int) -> Bool { words[page >> 6] & 1 << UInt64(page & 63) != 0 }

  /// False when it was there already.
  mutating func insert(_ page: Int) -> Bool {
    let bit: UInt64 = 1 << UInt64(page & 63)
    guard words[page >> 6] & bit == 0 else { return false }
    words[page >> 6] |= bit
    count += 1
    return true
  }
}
