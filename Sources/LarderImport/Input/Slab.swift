/// Elements side by side at an address that stays the same until more room is made.
///
/// The scanner works on addresses, for it looks at every byte and may not check each time whether an
/// array is shared. They are lent out here and by nobody else; whoever takes one must not keep it
/// over a call that makes room.
struct Slab<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var capacity: Int
  var count = 0

  /// Elements behind `capacity` that may be read, whatever they hold: a text is looked at eight
  /// bytes at a time.
  private let margin: Int
  private let filler: Element
  /// Of what `base` points to. The structure itself has no `deinit`: in builds without optimization Swift 6.3 does not
  /// run it where the structure is part of a larger one.
  private var memory: SlabMemory

  init(capacity: Int, margin: Int = 0, filler: Element) {
    self.capacity = capacity
    self.margin = margin
    self.filler = filler
    base = .allocate(capacity: capacity + margin)
    base.initialize(repeating: filler, count: capacity + margin)
    memory = SlabMemory(base)
  }

  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return base[index]
    }
    set {
      precondition(index >= 0 && index < count)
      base[index] = newValue
    }
  }

  /// Makes room for `more` elements behind the last, so that adding one now and then costs little.
  @inline(__always)
  mutating func reserve(_ more: Int) {
    if _slowPath(capacity &- count < more) { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) { resize(to: max(capacity * 2, count + more)) }

  @inline(__always)
  mutating func append(_ element: Element) {
    reserve(1)
    base[count] = element
    count &+= 1
  }

  /// Moves the elements of `range` to the front; what was before and behind them is lost.
  mutating func slide(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    base.update(from: base + range.lowerBound, count: range.count)
    count = range.count
  }

  /// Empties it, and gives the room back where one large document has made it unusually large.
  mutating func removeAll(keepingUpTo most: Int) {
    count = 0
    if capacity > most { resize(to: most) }
  }

  private mutating func resize(to capacity: Int) {
    let grown = UnsafeMutablePointer<Element>.allocate(capacity: capacity + margin)
    grown.initialize(repeating: filler, count: capacity + margin)
    grown.update(from: base, count: count)
    base = grown
    memory = SlabMemory(grown)
    self.capacity = capacity
  }
}

private final class SlabMemory {
  private let start: UnsafeMutableRawPointer

  init(_ start: UnsafeMutableRawPointer) { self.start = start }

  deinit { start.deallocate() }
}

// It owns its memory alone, as it cannot be copied.
extension Slab: @unchecked Sendable where Element: Sendable {}
