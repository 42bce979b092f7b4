import Synchronization

/// Read transactions at rest, each holding its reader slot: renewing one costs a tenth of
/// beginning another, and no lock that other processes share.
struct ReaderPool: ~Copyable, @unchecked Sendable {
  static let capacity = 16

  // Guard: the slots are atomic, and an address belongs to whoever took it out of its slot.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    slots = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    slots.deinitialize(count: Self.capacity)
    slots.deallocate()
  }

  @inline(__always)
  func take() -> TransactionHandle? {
    for index in 0..<Self.capacity where slots[index].load(ordering: .relaxed) != 0 {
      let address = slots[index].exchange(0, ordering: .acquiring)
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
    for index in 0..<Self.capacity where slots[index].load(ordering: .relaxed) == 0 {
      if slots[index].compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged
      {
        return true
      }
    }
    return false
  }
}
