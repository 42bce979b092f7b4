extension Cursor {
  /// Lends the record it stands on and those behind it, until `body` says false or a key does not
  /// come before `end`; and first, by `neighbour`, the record in front of them and, where it comes so
  /// far, the one behind them.
  ///
  /// For those who have to know that nothing was passed over: records in the wrong place stand beside
  /// the range that they are missing in. Costs hardly more in a snapshot than ``forEachOnward(before:_:)``,
  /// as the neighbours mostly lie on the same page.
  ///
  /// Afterwards the cursor stands somewhere on the way.
  ///
  /// - Returns: Whether it came to the end.
  /// - Throws: As ``forEachOnward(before:_:)``; whatever `neighbour` throws.
  @inlinable @inline(__always)
  public mutating func forEachOnward(
    before end: UnsafeRawBufferPointer?,
    neighbour: (
      _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ isBehind: Bool
    ) throws -> Void,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let first = try startRun(before: end)
    if let node = first?.nodeInFront {
      try neighbour(
        UnsafeRawBufferPointer(start: node.key, count: node.keyByteCount), node.value, false)
    } else {
      // Nothing lies in the range, or it begins with a page.
      if try previous() { try neighbour(found.key, found.value, false) }
      guard try next() else { return true }
    }
    guard var run = first else {
      try neighbour(found.key, found.value, true)
      return true
    }
    var record = found
    while true {
      guard try body(record.key, record.value) else { return false }
      if run.next(&record) { continue }
      if run.isAtEnd, let node = run.node(run.count) {
        try neighbour(
          UnsafeRawBufferPointer(start: node.key, count: node.keyByteCount), node.value, true)
        return true
      }
      guard let next = try nextRun(behind: run, at: record, before: end) else {
        if place == .onRecord { try neighbour(found.key, found.value, true) }
        return true
      }
      run = next
      record = found
    }
  }
}

extension PageRun {
  /// The record in front of the one it began with, where it lies on the same page.
  @inlinable @inline(__always) var nodeInFront: Node? { start > 0 ? node(start &- 1) : nil }
}
