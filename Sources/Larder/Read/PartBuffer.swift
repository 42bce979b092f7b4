/// Elements of one part of a result, made by one thread, which move into the whole without being copied.
@usableFromInline final class PartBuffer<Element>: @unchecked Sendable {
  @usableFromInline var elements: UnsafeMutablePointer<Element>?
  @usableFromInline var count = 0
  @usableFromInline var capacity = 0

  @inlinable init() {}

  @inlinable deinit {
    elements?.deinitialize(count: count)
    elements?.deallocate()
  }

  @inlinable func append(_ element: consuming Element) {
    if count == capacity { grow() }
    elements.unsafelyUnwrapped.advanced(by: count).initialize(to: element)
    count &+= 1
  }

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
    self.init(unsafeUninitializedCapacity: whole) { buffer, count in
      for part in parts {
        guard let elements = part.elements, let start = buffer.baseAddress else { continue }
        start.advanced(by: count).moveInitialize(from: elements, count: part.count)
        count += part.count
        part.count = 0
      }
    }
  }
}
