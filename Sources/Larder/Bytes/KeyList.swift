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

  /// Lends the places of the keys in the order of the keys; equal ones in the order in which they were
  /// appended. None may be empty.
  func forEachSorted(_ body: (_ place: Int, _ isRepeated: Bool) throws -> Void) rethrows {
    try bytes.withUnsafeBytes { bytes in
      let items = KeySort.sorted(count: count) { place in
        let start = place == 0 ? 0 : ends[place - 1]
        return UnsafeRawBufferPointer(rebasing: bytes[start..<ends[place]])
      }
      var last: KeySort.Item?
      for item in items {
        try body(Int(item.place), last.map { Bytes.equal($0.key, item.key) } ?? false)
        last = item
      }
    }
  }
}
