/// Postings of one term, as they stand in a record.
struct Postings {
  private let base: UInt32
  private let ids: UnsafeRawBufferPointer
  let positions: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer, base: UInt32) throws(SearchDamage) {
    var reader = VarintReader(bytes)
    ids = try reader.bytes(try reader.count())
    positions = try reader.bytes(reader.left)
    self.base = base
  }

  var byteCount: Int { ids.count + positions.count }

  /// Calls `body` with each id and how often the term is there, by weight.
  @inline(__always)
  func forEach(unit: UInt32, _ body: (UInt32, UInt32) throws -> Void) throws {
    try forEachWhile(unit: unit) {
      try body($0, $1)
      return true
    }
  }

  /// The same until `body` says false.
  @inline(__always)
  func forEachWhile(unit: UInt32, _ body: (UInt32, UInt32) throws -> Bool) throws {
    var reader = VarintReader(ids)
    var id = base
    while !reader.isAtEnd {
      let step = try reader.number()
      id &+= step >> 1
      guard try body(id, step & 1 == 1 ? unit : try reader.number()) else { return }
    }
  }
}
