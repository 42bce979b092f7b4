/// Encoded keys, behind each other in one piece of memory.
struct KeyList {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { ends.count }

  mutating func append(_ key: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: key)
    ends.append(bytes.count)
  }

  func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      var start = 0
      for end in ends {
        try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end
      }
    }
  }

  /// Whether the key at a place is this one.
  func hasKey(_ key: UnsafeRawBufferPointer, at place: Int) -> Bool {
    bytes.withUnsafeBytes { Bytes.equal(self.key(at: place, of: $0), key) }
  }

  /// The first place from `start` on whose key is not before `key`, of ascending keys; ``count`` where all are.
  func firstPlace(notBefore key: UnsafeRawBufferPointer, from start: Int) -> Int {
    bytes.withUnsafeBytes { bytes in
      var (low, high) = (start, count)
      // Near, where many keys are asked for one after the other.
      var step = 1
      while low + step < high, Bytes.compare(self.key(at: low + step, of: bytes), key) < 0 {
        low += step
        step *= 2
      }
      high = min(high, low + step + 1)
      while low < high {
        let middle = low + (high - low) / 2
        if Bytes.compare(self.key(at: middle, of: bytes), key) < 0 {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low
    }
  }

  private func key(at place: Int, of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = place == 0 ? 0 : ends[place - 1]
    return UnsafeRawBufferPointer(rebasing: bytes[start..<ends[place]])
  }

  /// Lends the places of the keys in the order of the keys; equal ones in the order in which they were
  /// appended. None may be empty.
  func forEachSorted(_ body: (_ place: Int, _ isRepeated: Bool) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      let items = KeySort.sorted(count: count) { key(at: $0, of: bytes) }
      var last: KeySort.Item?
      for item in items {
        try body(Int(item.place), last.map { Bytes.equal($0.key, item.key) } ?? false)
        last = item
      }
    }
  }
}
