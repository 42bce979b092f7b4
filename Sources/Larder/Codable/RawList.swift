/// A list of plain values in memory of its own. Reading and writing it costs neither a check for
/// exclusivity nor one for uniqueness, which an array inside a class would cost each time.
struct RawList<Element: BitwiseCopyable>: ~Copyable {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private(set) var capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  @inline(__always) mutating func append(_ element: Element) {
    if _slowPath(count == capacity) { grow() }
    (base + count).initialize(to: element)
    count &+= 1
  }

  @inline(never) private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }

  /// Drops all elements behind the first `count`.
  @inline(__always) mutating func shrink(to count: Int) {
    self.count = count
  }

  @inline(__always) subscript(index: Int) -> Element {
    _read {
      assert(index >= 0 && index < count)
      yield base[index]
    }
    nonmutating _modify {
      assert(index >= 0 && index < count)
      yield &base[index]
    }
  }
}
