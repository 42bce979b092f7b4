internal import LarderLMDB

/// The iterations of this process that hold a lease, or ask for one.
final class ConsumerHolders: Sendable {
  struct Holder {
    let number: UInt64
    let store: ObjectIdentifier
  }

  private let holders = Locked<[UInt64: Holder]>([:])

  func contains(_ number: UInt64) -> Bool { holders.withLock { $0[number] != nil } }

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
