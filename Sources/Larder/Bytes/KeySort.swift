/// Sorts keys by their bytes, eight of them at a time: all by the first eight as one number, then
/// those that are equal so far by the next eight.
///
/// No key is read twice, and no comparison follows a pointer, so that index entries sort about
/// three times as fast as by comparing them. Keys that are in order already cost one pass.
enum KeySort {
  struct Item {
    /// Eight bytes of the key; used while sorting.
    var head: UInt64 = 0
    let start: UnsafeRawPointer
    let count: Int32
    /// The place that the key had before.
    let place: Int32

    init(_ key: UnsafeRawBufferPointer, place: Int) {
      guard let start = key.baseAddress else { preconditionFailure("a key has a byte at least") }
      self.start = start
      count = Int32(truncatingIfNeeded: key.count)
      self.place = Int32(truncatingIfNeeded: place)
    }

    var key: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: start, count: Int(count))
    }

    @inline(__always) func head(at offset: Int) -> UInt64 {
      let left = Int(count) &- offset
      if left >= 8 {
        return UInt64(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      var head: UInt64 = 0
      var place = 0
      while place < left {
        head |=
          UInt64(start.load(fromByteOffset: offset &+ place, as: UInt8.self))
          << UInt64(56 &- 8 &* place)
        place &+= 1
      }
      return head
    }
  }

  private typealias Items = UnsafeMutableBufferPointer<Item>

  /// The keys in their order, a prefix before what it begins; equal ones in the order that they
  /// came in.
  ///
  /// - Parameter key: The key at a place; it must stay where it is while the result is used.
  static func sorted(count: Int, _ key: (Int) -> UnsafeRawBufferPointer) -> [Item] {
    var result = (0..<count).map { Item(key($0), place: $0) }
    result.withUnsafeMutableBufferPointer { items in
      if isSorted(items) { return }
      // Not borrowed from the stack: the optimizer of Swift 6.3 lets a closure that ends in a
      // copy, as the sort by digits does, come back as if it had thrown.
      let scratch = Items.allocate(capacity: items.count)
      let counts = UnsafeMutablePointer<Int32>.allocate(capacity: 8 * 256)
      defer {
        scratch.deallocate()
        counts.deallocate()
      }
      sort(items, scratch, counts, from: 0)
    }
    return result
  }

  private static func isSorted(_ items: Items) -> Bool {
    for place in items.indices.dropFirst()
    where Bytes.compare(items[place - 1].key, items[place].key) > 0 {
      return false
    }
    return true
  }

  /// - Parameters:
  ///   - counts: Room for how many keys have which value in each byte of their heads.
  ///   - offset: What all keys have in common.
  private static func sort(
    _ items: Items, _ scratch: Items, _ counts: UnsafeMutablePointer<Int32>, from offset: Int
  ) {
    var isSorted = true
    var last: UInt64 = 0
    for place in items.indices {
      let head = items[place].head(at: offset)
      items[place].head = head
      if head < last { isSorted = false }
      last = head
    }
    if !isSorted {
      if items.count < 64 { sortByInsertion(items) } else { sortByDigits(items, scratch, counts) }
    }
    var start = 0
    while start < items.count {
      var end = start + 1
      while end < items.count, items[end].head == items[start].head { end += 1 }
      if end - start > 1 {
        settle(Items(rebasing: items[start..<end]), scratch, counts, from: offset + 8)
      }
      start = end
    }
  }

  /// Sorts keys of which everything before `offset` is equal, if what the shorter ones lack counts
  /// as zeros.
  private static func settle(
    _ items: Items, _ scratch: Items, _ counts: UnsafeMutablePointer<Int32>, from offset: Int
  ) {
    let end = Int32(truncatingIfNeeded: offset)
    let first = min(items[0].count, end + 1)
    if items.contains(where: { min($0.count, end + 1) != first }) {
      // The shorter one is the beginning of the longer one.
      var items = items
      items.sort { left, right in
        let (first, second) = (min(left.count, end + 1), min(right.count, end + 1))
        return first != second ? first < second : left.place < right.place
      }
    }
    guard let longer = items.firstIndex(where: { $0.count > end }), items.count - longer > 1
    else { return }
    sort(Items(rebasing: items[longer...]), scratch, counts, from: offset)
  }

  private static func sortByInsertion(_ items: Items) {
    for place in 1..<items.count {
      let item = items[place]
      var free = place
      while free > 0, items[free - 1].head > item.head {
        items[free] = items[free - 1]
        free -= 1
      }
      items[free] = item
    }
  }

  /// By one byte of the heads after another, the last first, without those that are the same in all.
  private static func sortByDigits(
    _ items: Items, _ scratch: Items, _ counts: UnsafeMutablePointer<Int32>
  ) {
    counts.initialize(repeating: 0, count: 8 * 256)
    for item in items {
      for digit in 0..<8 {
        counts[digit &* 256 &+ Int((item.head >> UInt64(8 &* digit)) & 255)] &+= 1
      }
    }
    var from = items
    var to = Items(rebasing: scratch[..<items.count])
    for digit in 0..<8 {
      let shift = UInt64(8 &* digit)
      let places = counts + digit * 256
      if Int(places[Int((from[0].head >> shift) & 255)]) == items.count { continue }
      var place: Int32 = 0
      for value in 0..<256 {
        let count = places[value]
        places[value] = place
        place &+= count
      }
      for item in from {
        let value = Int((item.head >> shift) & 255)
        (to.baseAddress.unsafelyUnwrapped + Int(places[value])).initialize(to: item)
        places[value] &+= 1
      }
      swap(&from, &to)
    }
    if from.baseAddress != items.baseAddress { _ = items.update(fromContentsOf: from) }
  }
}
