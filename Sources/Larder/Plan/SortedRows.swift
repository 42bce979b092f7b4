/// What documents are sorted by: their sort values as bytes in the order of the values, so that
/// sorting compares bytes and decodes nothing again.
struct SortedRows: ~Copyable {
  struct Row {
    /// The first 8 bytes of the sort values: most comparisons end here.
    let prefix: UInt64
    let start: Int
    let count: Int
    let key: UnsafeRawBufferPointer
    let record: UnsafeRawBufferPointer
  }

  private var bytes = OrderedBytes(capacity: 4096)
  private var rows: [Row] = []
  private var isHeap = false
  /// How many rows are wanted; the others are let go of as soon as they are known.
  private let limit: Int
  private let gate: SortGate?
  /// Whether the documents have come in the order of their keys.
  private var isInKeyOrder = true

  /// - Parameter gate: Kept at the last of the rows that are wanted, once there are as many.
  init(limit: Int, gate: SortGate? = nil) {
    self.limit = limit
    self.gate = gate
  }

  /// Adds a document whose sort values `write` appends.
  ///
  /// - Parameter verify: Called for one that is kept, if only for a while: others are left out as they
  ///   are.
  @inline(__always)
  mutating func add(
    key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer,
    verify: () throws -> Void, _ write: (inout OrderedBytes) throws -> Void
  ) rethrows {
    let start = bytes.count
    try write(&bytes)
    let values = bytes[start..<bytes.count]
    var prefix: UInt64 = 0
    if values.count >= 8 {
      prefix = UInt64(bigEndian: values.loadUnaligned(as: UInt64.self))
    } else {
      for byte in values { prefix = prefix << 8 | UInt64(byte) }
      prefix <<= UInt64(64 - 8 * values.count)
    }
    let row = Row(prefix: prefix, start: start, count: values.count, key: key, record: record)
    guard rows.count == limit else {
      try verify()
      if let last = rows.last, isInKeyOrder, Bytes.compare(last.key, key) > 0 {
        isInKeyOrder = false
      }
      rows.append(row)
      if rows.count == limit {
        makeHeap()
        gate?.close(behind: rows[0].record)
      }
      return
    }
    // The largest of those kept is on top.
    if precedes(row, rows[0]) {
      try verify()
      rows[0] = row
      sink(0)
      gate?.close(behind: rows[0].record)
      if bytes.count > 1 << 20 { compact() }
    } else {
      bytes.truncate(to: start)
    }
  }

  /// A row that keeps its sort values itself.
  struct Found {
    let values: [UInt8]
    let key: UnsafeRawBufferPointer
    let record: UnsafeRawBufferPointer
  }

  /// The rows, in no order.
  borrowing func found() -> [Found] {
    rows.map { row in
      Found(
        values: Array(bytes[row.start..<row.start + row.count]), key: row.key, record: row.record)
    }
  }

  /// The rows in their order.
  consuming func sorted() -> [Row] {
    var sorted = rows
    rows = []
    if isInKeyOrder, !isHeap, sorted.count > 64, let count = Int32(exactly: sorted.count) {
      // Rows with equal values stay in the order of their keys.
      return KeySort.sorted(count: Int(count)) { place in
        bytes[sorted[place].start..<sorted[place].start + sorted[place].count]
      }.map { sorted[Int($0.place)] }
    }
    sorted.sort { precedes($0, $1) }
    return sorted
  }

  private borrowing func precedes(_ left: Row, _ right: Row) -> Bool {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    let order = Bytes.compare(
      bytes[left.start..<left.start + left.count], bytes[right.start..<right.start + right.count])
    return order != 0 ? order < 0 : Bytes.compare(left.key, right.key) < 0
  }

  private mutating func makeHeap() {
    isHeap = true
    for place in (0..<rows.count / 2).reversed() { sink(place) }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var largest = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < rows.count && precedes(rows[largest], rows[child]) {
        largest = child
      }
      if largest == place { return }
      rows.swapAt(place, largest)
      place = largest
    }
  }

  /// Lets go of the bytes of rows that are not kept.
  private mutating func compact() {
    var kept = OrderedBytes(capacity: 4096)
    for place in rows.indices {
      let row = rows[place]
      let start = kept.count
      kept.append(bytes[row.start..<row.start + row.count])
      rows[place] = Row(
        prefix: row.prefix, start: start, count: row.count, key: row.key, record: row.record)
    }
    bytes = kept
  }
}
