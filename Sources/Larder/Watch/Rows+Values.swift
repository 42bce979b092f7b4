// What rows have in common with arrays, as values.

extension Rows: Equatable where Element: Equatable {
  /// Whether both have equal rows in one order. Chunks that both share are not looked at: two
  /// results that follow each other are compared in a time that grows with what has changed.
  @inlinable public static func == (left: Self, right: Self) -> Bool {
    if left.count != right.count { return false }
    var offset = 0
    while offset < left.count {
      let sharedCount = left.root.sharedCount(with: right.root, at: offset)
      if sharedCount > 0 {
        offset += sharedCount
        continue
      }
      let (ours, start) = left.root.leaf(at: offset)
      let (theirs, theirStart) = right.root.leaf(at: offset)
      let end = Swift.min(start + ours.count, theirStart + theirs.count)
      while offset < end {
        if ours[offset - start] != theirs[offset - theirStart] { return false }
        offset += 1
      }
    }
    return true
  }

  /// Whether an array has equal rows in the same order.
  public static func == (rows: Self, array: [Element]) -> Bool { rows.elementsEqual(array) }
  /// Whether an array has other rows, or in another order.
  public static func != (rows: Self, array: [Element]) -> Bool { !(rows == array) }
}

extension Rows: Hashable where Element: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }
}

extension Rows: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

/// As an array.
extension Rows: Encodable where Element: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in self { try container.encode(element) }
  }
}

/// As an array.
extension Rows: Decodable where Element: Decodable {
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var builder = RowsBuilder<Element>()
    while !container.isAtEnd { builder.append(try container.decode(Element.self)) }
    self = builder.rows()
  }
}

extension Rows: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { Array(self).description }
  public var debugDescription: String { Array(self).debugDescription }
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: self, displayStyle: .collection)
  }
}
