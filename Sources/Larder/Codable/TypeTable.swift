internal import Synchronization

/// Something about types, for all threads. Entries are added and neither changed nor removed, so
/// that finding one takes no lock; there are as many as the program has types that it codes.
final class TypeTable<Element>: Sendable {
  private struct Entry {
    var element: Element
    let type: ObjectIdentifier
    /// The address of the next entry in the same place; 0 behind the last.
    var next: UInt
  }

  private static var placeCount: Int { 256 }
  /// Addresses of entries; 0 where there is none.
  nonisolated(unsafe) private let places: UnsafeMutablePointer<Atomic<UInt>>  // Each is atomic.

  init() {
    places = .allocate(capacity: Self.placeCount)
    for place in 0..<Self.placeCount { (places + place).initialize(to: Atomic(0)) }
  }

  deinit { preconditionFailure("the table lives for ever") }

  /// The element of a type, which `make` makes where there is none yet. It lives for ever.
  @inline(__always) func element(
    of type: Any.Type, _ make: () -> Element
  ) -> UnsafePointer<Element> {
    let id = ObjectIdentifier(type)
    let hash = UInt(bitPattern: id) >> 4  // Without the alignment.
    let place = places + Int((hash ^ hash >> 8) & UInt(Self.placeCount &- 1))
    return find(id, from: place.pointee.load(ordering: .acquiring)) ?? add(make(), id, at: place)
  }

  @inline(__always)
  private func find(_ id: ObjectIdentifier, from first: UInt) -> UnsafePointer<Element>? {
    var address = first
    while let entry = UnsafePointer<Entry>(bitPattern: address) {
      // The element stands first in an entry.
      if entry.pointee.type == id {
        return UnsafeRawPointer(entry).assumingMemoryBound(to: Element.self)
      }
      address = entry.pointee.next
    }
    return nil
  }

  @inline(never) private func add(
    _ element: Element, _ id: ObjectIdentifier, at place: UnsafeMutablePointer<Atomic<UInt>>
  ) -> UnsafePointer<Element> {
    let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entry.initialize(to: Entry(element: element, type: id, next: 0))
    var first = place.pointee.load(ordering: .acquiring)
    while true {
      if let found = find(id, from: first) {
        // Another thread was faster.
        entry.deinitialize(count: 1)
        entry.deallocate()
        return found
      }
      entry.pointee.next = first
      let (isExchanged, original) = place.pointee.compareExchange(
        expected: first, desired: UInt(bitPattern: entry), ordering: .acquiringAndReleasing)
      if isExchanged { return UnsafeRawPointer(entry).assumingMemoryBound(to: Element.self) }
      first = original
    }
  }
}
