internal import LarderLMDB

/// The iterations of this process that hold a lease, or ask for one.
final class ConsumerHolders: Sendable {
  struct Holder {
    let number: UInt64
    let store: ObjectIdentifier
    /// Whether it waits for changes at this moment: it has asked for a batch, and there is none.
    var isWaiting = false
  }

  private let holders = Locked<[UInt64: Holder]>([:])

  func contains(_ number: UInt64) -> Bool { holders.withLock { $0[number] != nil } }

  func isWaiting(_ number: UInt64) -> Bool { holders.withLock { $0[number]?.isWaiting == true } }

  /// For tests.
  var isAnyWaiting: Bool { holders.withLock { $0.values.contains(where: \.isWaiting) } }

  func setWaiting(_ number: UInt64, to isWaiting: Bool) {
    holders.withLock { $0[number]?.isWaiting = isWaiting }
  }

  func insert(_ holder: Holder) { holders.withLock { $0[holder.number] = holder } }

  /// False where it was not there any more.
  func remove(_ number: UInt64) -> Bool {
    holders.withLock { $0.removeValue(forKey: number) != nil }
  }

  func removeAll(of store: ObjectIdentifier) -> [Holder] {
    holders.withLock { holders in
      let removed = holders.values.filter { $0.store == store }
      for holder in removed { holders[holder.number] = nil }
      return removed
    }
  }
}
