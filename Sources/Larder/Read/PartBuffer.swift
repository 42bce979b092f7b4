/// Elements of one part of a result, made by one thread, which move into the whole without being copied.
@usableFromInline final class PartBuffer<Element>: @unchecked Sendable {
  @usableFromInline var elements: UnsafeMutablePointer<Element>?
  @usableFromInline var count = 0
  @usableFromInline var capacity = 0

  /// - Parameter expectedCount: How many elements it has room for at first.
  @inlinable init(expectedCount: Int) {
    guard expectedCount > 0 else { return }
    elements = .allocate(capacity: expectedCount)
    capacity = expectedCount
  }

  @inlinable deinit {
    elements?.deinitialize(count: count)
    elements?.deallocate()
  }

  @inlinable func append(_ element: consuming Element) {
    if count == capacity { grow() }
    elements.unsafelyUnwrapped.advanced(by: count).initialize(to: element)
    count &+= 1
  }

  /// The elements were moved, and their memory given back.
  @inlinable func forget() { (elements, count, capacity) = (nil, 0, 0) }

  @inlinable func grow() {
    capacity = max(64, 2 * capacity)
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    if let elements {
      larger.moveInitialize(from: elements, count: count)
      elements.deallocate()
    }
    elements = larger
  }
}

extension Array {
  /// Takes the elements of all parts, in their order.
  @inlinable init(moving parts: [PartBuffer<Element>]) {
    let whole = parts.reduce(0) { $0 + $1.count }
    // The storage that all empty arrays share would be written to, though with what it holds.
    guard whole > 0 else {
      self = []
      return
    }
    self.init(unsafeUninitializedCapacity: whole) { buffer, count in
      for part in parts {
        guard let elements = part.elements, let start = buffer.baseAddress else { continue }
        start.advanced(by: count).moveInitialize(from: elements, count: part.count)
        count += part.count
        // Given back at once: the whole has as much again.
        elements.deallocate()
        part.forget()
      }
    }
  }
}
