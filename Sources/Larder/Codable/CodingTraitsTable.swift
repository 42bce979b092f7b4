internal import Synchronization

extension CodingTraits {
  /// The traits of a type. They live for ever.
  @inline(__always) static func of(_ type: Any.Type) -> UnsafePointer<CodingTraits> {
    CodingTraitsTable.shared[type]
  }
}

/// Traits by type, for all threads. Entries are added and neither changed nor removed, so that
/// finding one takes no lock; there are as many as the program has types that it codes.
private final class CodingTraitsTable: Sendable {
  static let shared = CodingTraitsTable()

  private struct Entry {
    var traits: CodingTraits
    let type: ObjectIdentifier
    /// The address of the next entry in the same place; 0 behind the last.
    var next: UInt
  }

  private static let placeCount = 256
  /// Addresses of entries; 0 where there is none.
  nonisolated(unsafe) private let places: UnsafeMutablePointer<Atomic<UInt>>  // Each is atomic.

  private init() {
    places = .allocate(capacity: Self.placeCount)
    for place in 0..<Self.placeCount { (places + place).initialize(to: Atomic(0)) }
  }

  deinit { preconditionFailure("the table lives for ever") }

  @inline(__always) subscript(type: Any.Type) -> UnsafePointer<CodingTraits> {
    let id = ObjectIdentifier(type)
    let hash = UInt(bitPattern: id) >> 4  // Without the alignment.
    let place = places + Int((hash ^ hash >> 8) & UInt(Self.placeCount &- 1))
    return find(id, from: place.pointee.load(ordering: .acquiring)) ?? add(type, id, at: place)
  }

  @inline(__always)
  private func find(_ id: ObjectIdentifier, from first: UInt) -> UnsafePointer<CodingTraits>? {
    var address = first
    while let entry = UnsafePointer<Entry>(bitPattern: address) {
      // The traits stand first in an entry.
      if entry.pointee.type == id {
        return UnsafeRawPointer(entry).assumingMemoryBound(to: CodingTraits.self)
      }
      address = entry.pointee.next
    }
    return nil
  }

  @inline(never) private func add(
    _ type: Any.Type, _ id: ObjectIdentifier, at place: UnsafeMutablePointer<Atomic<UInt>>
  ) -> UnsafePointer<CodingTraits> {
    let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entry.initialize(to: Entry(traits: CodingTraits(type), type: id, next: 0))
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
      if isExchanged { return UnsafeRawPointer(entry).assumingMemoryBound(to: CodingTraits.self) }
      first = original
    }
  }
}
