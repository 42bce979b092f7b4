import Synchronization

/// Read transactions at rest, each holding its reader slot: renewing one costs a tenth of
/// beginning another, and no lock that other processes share.
///
/// A thread looks first where it looked the last time, so that threads which read side by side do not
/// wait for each other's slots, nor for what their transactions are in.
struct ReaderPool: ~Copyable, Sendable {
  static let capacity = 16

  /// Addresses, each of which belongs to whoever took it out of its slot.
  private let slots = PaddedAtomics(count: capacity)

  /// The slots in the order in which this thread looks at them.
  @inline(__always)
  private func slot(_ number: Int, from first: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    slots[(first &+ number) % Self.capacity]
  }

  @inline(__always)
  func take() -> TransactionHandle? {
    let first = PaddedAtomics.placeOfThread
    for number in 0..<Self.capacity {
      let slot = slot(number, from: first)
      guard slot.pointee.load(ordering: .relaxed) != 0 else { continue }
      let address = slot.pointee.exchange(0, ordering: .acquiring)
      if let state = UnsafeMutablePointer<TransactionHandle.State>(bitPattern: address) {
        state.pointee.useCount &+= 1
        return TransactionHandle(state: state)
      }
    }
    return nil
  }

  /// False when the pool is full and the caller must end the transaction itself.
  @inline(__always)
  func put(_ handle: TransactionHandle) -> Bool {
    let address = Int(bitPattern: handle.state)
    let first = PaddedAtomics.placeOfThread
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
