import Synchronization

/// Atomic numbers, each in a line of the processor's cache of its own, so that threads which change
/// different ones do not wait for each other.
struct PaddedAtomics: ~Copyable, @unchecked Sendable {
  // Guard: all are atomic.
  private let words: UnsafeMutablePointer<Atomic<Int>>
  private let count: Int
  /// Words for each that is used: a line has 128 bytes at most.
  private static let stride = 16

  /// - Parameter count: How many; all are zero.
  init(count: Int) {
    self.count = count
    words = .allocate(capacity: count * Self.stride)
    for place in 0..<count * Self.stride { (words + place).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: count * Self.stride)
    words.deallocate()
  }

  @inline(__always)
  subscript(place: Int) -> UnsafeMutablePointer<Atomic<Int>> { words + place &* Self.stride }

  /// Where this thread begins among any number of places: numbers of threads are addresses, which
  /// differ in the middle.
  @inline(__always)
  static var placeOfThread: Int {
    let mixed = UInt64(SystemCall.threadNumber) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 48)
  }
}
