internal import Synchronization

/// Where the keys of one type stand in one field table; found out key by key.
struct SlotPlan {
  let keys: UnsafePointer<KeyPlan>
  let table: Int
  /// The address of the next plan; 0 behind the last.
  fileprivate var next: UInt
  /// By the byte of a compact key: 0 where it was not looked for yet, -1 where the table has no
  /// such field, else one more than the slot.
  private let slots: UnsafeMutablePointer<Atomic<Int>>
  /// By the same byte, the ``StaticType`` that the field is known to take; 0 for none.
  private let types: UnsafeMutablePointer<Atomic<UInt>>

  fileprivate init(_ keys: UnsafePointer<KeyPlan>, table: Int) {
    self.keys = keys
    self.table = table
    next = 0
    slots = .allocate(capacity: 256)
    types = .allocate(capacity: 256)
    for byte in 0..<256 {
      (slots + byte).initialize(to: Atomic(0))
      (types + byte).initialize(to: Atomic(0))
    }
  }

  fileprivate func deallocate() {
    slots.deallocate()
    types.deallocate()
  }

  /// The slot of a key; nil where the table has no such field.
  @inline(__always) func slot(
    of name: UnsafePointer<KeyName>, in collection: Collection
  ) -> Int? {
    let known = slots[name.pointee.byte].load(ordering: .relaxed)
    if _fastPath(known > 0) { return known &- 1 }
    return known < 0 ? nil : find(name, in: collection)
  }

  @inline(never) private func find(
    _ name: UnsafePointer<KeyName>, in collection: Collection
  ) -> Int? {
    let slot = collection.tables[table].slot(of: name.pointee.string)
    slots[name.pointee.byte].store((slot ?? -2) + 1, ordering: .relaxed)
    return slot
  }

  /// Whether the field of a key is known to take values of `type`.
  @inline(__always) func takes(_ type: StaticType, _ name: UnsafePointer<KeyName>) -> Bool {
    types[name.pointee.byte].load(ordering: .relaxed) == type.bits
  }

  func noteThatItTakes(_ type: StaticType, _ name: UnsafePointer<KeyName>) {
    types[name.pointee.byte].store(type.bits, ordering: .relaxed)
  }
}

/// The slot plans of one binding, for all threads. Plans are added, and go with the binding.
final class SlotPlans: Sendable {
  private let first = Atomic<UInt>(0)

  deinit {
    var address = first.load(ordering: .acquiring)
    while let plan = UnsafeMutablePointer<SlotPlan>(bitPattern: address) {
      address = plan.pointee.next
      plan.pointee.deallocate()
      plan.deinitialize(count: 1)
      plan.deallocate()
    }
  }

  /// The plan for compact keys in a table. It lives as long as this.
  @inline(__always) func plan(
    _ keys: UnsafePointer<KeyPlan>, _ table: Int
  ) -> UnsafePointer<SlotPlan> {
    find(keys, table, from: first.load(ordering: .acquiring)) ?? add(keys, table)
  }

  @inline(__always) private func find(
    _ keys: UnsafePointer<KeyPlan>, _ table: Int, from first: UInt
  ) -> UnsafePointer<SlotPlan>? {
    var address = first
    while let plan = UnsafePointer<SlotPlan>(bitPattern: address) {
      if plan.pointee.keys == keys, plan.pointee.table == table { return plan }
      address = plan.pointee.next
    }
    return nil
  }

  @inline(never) private func add(
    _ keys: UnsafePointer<KeyPlan>, _ table: Int
  ) -> UnsafePointer<SlotPlan> {
    let plan = UnsafeMutablePointer<SlotPlan>.allocate(capacity: 1)
    plan.initialize(to: SlotPlan(keys, table: table))
    var known = first.load(ordering: .acquiring)
    while true {
      if let found = find(keys, table, from: known) {
        // Another thread was faster.
        plan.pointee.deallocate()
        plan.deinitialize(count: 1)
        plan.deallocate()
        return found
      }
      plan.pointee.next = known
      let (isExchanged, original) = first.compareExchange(
        expected: known, desired: UInt(bitPattern: plan), ordering: .acquiringAndReleasing)
      if isExchanged { return UnsafePointer(plan) }
      known = original
    }
  }
}
