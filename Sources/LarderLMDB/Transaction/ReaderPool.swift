import Synchronization

/// Read transactions at rest, each holding its reader slot: renewing one costs a tenth of
/// beginning another, and no lock that other processes share.
///
/// A thread looks first where it looked the last time, so that threads which read side by side do not
/// wait for each other's slots, nor for what their transactions are in.
struct ReaderPool: ~Copyable, @unchecked Sendable {
  static let capacity = 16

  // Guard: the slots are atomic, and an address belongs to whoever took it out of its slot.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>
  /// Slots for each that is used: one to a line of the processor's cache, which has 128 bytes at most.
  private static let stride = 16

  init() {
    slots = .allocate(capacity: Self.capacity * Self.stride)
    for place in 0..<Self.capacity * Self.stride { (slots + place).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: Self.capacity * Self.stride)
    slots.deallocate()
  }

  /// The slots in the order in which this thread looks at them.
  @inline(__always)
  private func slot(_ number: Int, from first: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    slots + (Int(truncatingIfNeeded: first) &+ number) % Self.capacity &* Self.stride
  }

  /// Where this thread begins: numbers of threads are addresses, which differ in the middle.
  @inline(__always)
  private var first: UInt {
    let mixed = UInt64(SystemCall.threadNumber) &* 0x9E37_79B9_7F4A_7C15
    return UInt(truncatingIfNeeded: mixed >> 48)
  }

  @inline(__always)
  func take() -> TransactionHandle? {
    let first = first
    for number in 0..<Self.capacity {
      let slot = slot(number, from: first)
      guard slot.pointee.load(ordering: .relaxed) != 0 else { continue }
      let address = slot.pointee.exchange(0, ordering: .acquiring)
      if let state = UnsafeMutablePointer<TransactionHandle.State>(bitPattern: address) {
        return TransactionHandle(state: state)
      }
    }
    return nil
  }

  /// False when the pool is full and the caller must end the transaction itself.
  @inline(__always)
  func put(_ handle: TransactionHandle) -> Bool {
    let address = UInt(bitPattern: handle.state)
    let first = first
    for number in 0..<Self.capacity {
      let slot = slot(number, from: first)
      guard slot.pointee.load(ordering: .relaxed) == 0 else { continue }
      if slot.pointee.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged
      {
        return true
      }
    }
    return false
  }
}
