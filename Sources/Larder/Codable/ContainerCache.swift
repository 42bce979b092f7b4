/// What a keyed container of Swift's, and with it the object inside it, is pointed at. The object
/// is found by its type of keys and used again for the next value, as making one costs a memory
/// allocation and several look-ups of type metadata.
protocol ContainerCell: AnyObject {
  var keys: UnsafePointer<KeyPlan> { get }
  /// Whether nobody uses it.
  var isFree: Bool { get set }
  /// Points it at nothing, for ever: a type has kept its container.
  func die()
}

/// Keyed containers of one encoder or decoder, which come and go as the values do that they are
/// for.
///
/// Measured with the contact of the benchmark, in instructions per document: it took encoding from
/// 13,071 to 10,640, together with cells in place of what containers held before.
struct ContainerCache<Cell: ContainerCell>: ~Copyable {
  private struct Item {
    let cell: Cell
    /// The object inside the container.
    var object: AnyObject
  }

  private var items: ContiguousArray<Item> = []
  /// The places of those that are in use, the last one last.
  private var taken = RawList<Int32>(capacity: 16)
  /// Whether a type has kept one.
  private var hasKept = false

  /// How many are in use: what ``give(back:)`` takes when those taken since are done with.
  @inline(__always) var takenCount: Int { taken.count }

  /// A container that nobody uses, for keys of a type; nil where there is none.
  @inline(__always) mutating func take(
    _ keys: UnsafePointer<KeyPlan>
  ) -> (cell: Cell, object: AnyObject)? {
    for place in items.indices where items[place].cell.keys == keys && items[place].cell.isFree {
      items[place].cell.isFree = false
      taken.append(Int32(truncatingIfNeeded: place))
      return (items[place].cell, items[place].object)
    }
    return nil
  }

  /// Adds a container that is in use.
  mutating func add(_ cell: Cell, _ object: AnyObject) {
    taken.append(Int32(truncatingIfNeeded: items.count))
    items.append(Item(cell: cell, object: object))
  }

  /// Ends the use of all but the first `count` that are in use. One that a type has kept is not
  /// used again, and stays pointed at what it was.
  @inline(__always) mutating func give(back count: Int) {
    while taken.count > count {
      let place = Int(taken[taken.count &- 1])
      taken.shrink(to: taken.count &- 1)
      if isKnownUniquelyReferenced(&items[place].object) {
        items[place].cell.isFree = true
      } else {
        hasKept = true
      }
    }
  }

  /// Ends the use of all. Those that a type has kept are pointed at nothing.
  @inline(__always) mutating func giveBackAll() {
    give(back: 0)
    if _slowPath(hasKept || items.count > Self.largestCount) { forget() }
  }

  @inline(never) private mutating func forget() {
    for item in items { item.cell.die() }
    items = []
    hasKept = false
  }

  deinit {
    // A type may have asked for one when its value had been coded, and hold it longer than this.
    for item in items { item.cell.die() }
  }

  /// More than this are not kept for the next value.
  private static var largestCount: Int { 64 }
}

extension KeyedEncodingContainer {
  /// Whether a container is nothing but a reference to an object, as it is in every Swift so far.
  @inline(__always) static var isOneObject: Bool {
    MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size
  }

  /// The container around an object that was taken from one for the same keys.
  @inline(__always) init(_ object: AnyObject) { self = unsafeBitCast(object, to: Self.self) }

  var object: AnyObject { unsafeBitCast(self, to: AnyObject.self) }
}

extension KeyedDecodingContainer {
  /// Whether a container is nothing but a reference to an object, as it is in every Swift so far.
  @inline(__always) static var isOneObject: Bool {
    MemoryLayout<Self>.size == MemoryLayout<AnyObject>.size
  }

  /// The container around an object that was taken from one for the same keys.
  @inline(__always) init(_ object: AnyObject) { self = unsafeBitCast(object, to: Self.self) }

  var object: AnyObject { unsafeBitCast(self, to: AnyObject.self) }
}
