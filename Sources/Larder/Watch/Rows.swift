/// The result of a watched query: a collection like an array, of which one result shares with the
/// next whatever has not changed.
///
/// ```swift
/// for try await songs in library.values(of: Song.all.sorted(by: \.title)) {
///   table.show(songs)  // `songs.count`, `songs[3]`, `for song in songs`
/// }
/// ```
/// The rows lie in chunks of up to 64, in a tree of chunks. A change replaces the chunk that it is
/// in and the few nodes above it: keeping the result of before costs the memory of these, and not
/// that of the whole result. Iterating is as fast as over an array; a row is found by its offset in
/// a time that grows with the logarithm of the count. `Array(rows)` copies them all.
public struct Rows<Element: Sendable>: Sendable {
  @usableFromInline var root: RowNode<Element>
  public internal(set) var count: Int

  /// No rows.
  public init() {
    root = .leaf([])
    count = 0
  }

  /// The elements of a sequence, in its order.
  public init(_ elements: some Sequence<Element>) {
    var builder = RowsBuilder<Element>()
    for element in elements { builder.append(element) }
    self = builder.rows()
  }

  init(root: RowNode<Element>, count: Int) {
    self.root = root
    self.count = count
  }
}

// MARK: A collection

extension Rows: RandomAccessCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { count }

  /// The row at an offset. Takes a time that grows with the logarithm of ``count``.
  ///
  /// - Precondition: The offset is at least 0 and less than ``count``.
  @inlinable public subscript(offset: Int) -> Element {
    precondition(offset >= 0 && offset < count, "there is no row at this offset")
    let (elements, start) = root.leaf(at: offset)
    return elements[offset &- start]
  }

  public struct Iterator: IteratorProtocol {
    @usableFromInline let root: RowNode<Element>
    @usableFromInline let count: Int
    /// The chunk that is being passed, and the offset of the row behind it.
    @usableFromInline var elements: ContiguousArray<Element> = []
    @usableFromInline var end = 0
    @usableFromInline var place = 0

    @inlinable init(_ rows: Rows) {
      root = rows.root
      count = rows.count
    }

    @inlinable public mutating func next() -> Element? {
      if place == elements.count {
        guard end < count else { return nil }
        elements = root.leaf(at: end).elements
        end &+= elements.count
        place = 0
      }
      defer { place &+= 1 }
      return elements[place]
    }
  }

  @inlinable public func makeIterator() -> Iterator { Iterator(self) }
}

// MARK: Changes

extension Rows {
  /// Makes the next result of a watched query of the one before. Costs what the change costs.
  ///
  /// - Precondition: The rows are as the step before has left them.
  public mutating func apply(_ change: ResultChange<Element>) {
    switch change {
    case .initial(let rows, _): self = rows
    // Not its rows, which share nothing with these.
    case .reset(_, let difference), .update(let difference): apply(difference)
    }
  }

  /// Makes the new result of the old one. Costs what the difference costs.
  ///
  /// - Precondition: The rows are the old result.
  public mutating func apply(_ difference: ResultDifference<Element>) {
    // Rows that stand beside each other go and come together.
    var removed: Range<Int>?
    for removal in difference.removals {
      if let range = removed, removal.offset != range.lowerBound - 1 {
        replace(range, with: [])
        removed = nil
      }
      removed = removal.offset..<(removed?.upperBound ?? removal.offset + 1)
    }
    if let removed { replace(removed, with: []) }
    var inserted: (start: Int, models: ContiguousArray<Element>) = (0, [])
    for insertion in difference.insertions {
      if insertion.offset != inserted.start + inserted.models.count {
        insert(inserted.models, at: inserted.start)
        inserted = (insertion.offset, [])
      }
      inserted.models.append(insertion.model)
    }
    insert(inserted.models, at: inserted.start)
    for update in difference.updates {
      precondition(update.offset < count, "a difference does not belong to these rows")
      root.set(update.model, at: update.offset)
    }
  }

  private mutating func insert(_ new: ContiguousArray<Element>, at offset: Int) {
    if !new.isEmpty { replace(offset..<offset, with: new) }
  }

  /// Puts elements in the place of the rows at some offsets.
  mutating func replace(_ range: Range<Int>, with new: ContiguousArray<Element>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "a difference does not belong to these rows")
    let siblings = root.replace(range, with: new)
    if !siblings.isEmpty { root = .root(over: [RowNode.Child(root)] + siblings) }
    count += new.count - range.count
    while case .branch(let children) = root, children.count == 1 { root = children[0].node }
    if count == 0 { root = .leaf([]) }
  }
}

/// Makes rows of elements that come one after the other, without an array of all.
struct RowsBuilder<Element: Sendable> {
  private var leaves: ContiguousArray<RowNode<Element>.Child> = []
  private var elements: ContiguousArray<Element> = []
  private var count = 0

  mutating func append(_ element: Element) {
    if elements.count == RowNode<Element>.usualLeafCount { endLeaf() }
    if elements.isEmpty { elements.reserveCapacity(RowNode<Element>.usualLeafCount) }
    elements.append(element)
  }

  private mutating func endLeaf() {
    if elements.isEmpty { return }
    count += elements.count
    leaves.append(RowNode.Child(.leaf(elements)))
    elements = []
  }

  consuming func rows() -> Rows<Element> {
    endLeaf()
    return Rows(root: .root(over: leaves), count: count)
  }
}
