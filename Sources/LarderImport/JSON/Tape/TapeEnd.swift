internal import Larder

/// The end of a tape while a document is scanned, in variables of the scanner's own.
///
/// Before each token the scanner makes sure that there is room for one entry.
struct TapeEnd {
  private let entries: UnsafeMutablePointer<JSONTape.Entry>
  private(set) var count: Int
  private let capacity: Int

  init(_ slab: borrowing Slab<JSONTape.Entry>) {
    (entries, count, capacity) = (slab.base, slab.count, slab.capacity)
  }

  @inline(__always)
  var isFull: Bool { count == capacity }

  @inline(__always)
  mutating func append(_ entry: JSONTape.Entry) {
    entries[count] = entry
    count &+= 1
  }

  /// Appends an entry that begins at `offset`.
  @inline(__always)
  mutating func append(_ kind: JSONTape.Kind, at offset: Int, _ payload: UInt64, name: Int = 0) {
    append(JSONTape.Entry.made(kind, at: offset, payload, name: name))
  }

  /// Appends a string or name.
  @inline(__always)
  mutating func append(
    _ kind: JSONTape.Kind, at offset: Int, from start: Int, count: Int, name: Int = 0
  ) {
    append(JSONTape.Entry.made(kind, at: offset, from: start, count: count, name: name))
  }

  /// Gives the latest entry, a name, its number.
  @inline(__always)
  func setName(_ number: Int) {
    entries[count &- 1].head |= UInt64(truncatingIfNeeded: number) << 8
  }

  /// Ends the array or object whose entry is at `index` and which has `count` elements or members.
  @inline(__always)
  func close(_ index: Int, count elements: UInt32) {
    entries[index].payload =
      UInt64(truncatingIfNeeded: count &- index) << 32 | UInt64(elements)
  }
}
