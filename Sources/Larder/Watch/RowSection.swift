/// Rows of a watched query that follow each other and have the same value in a field, as a list shows
/// them under one heading.
public struct RowSection<Key: Sendable, Model: Sendable>: Sendable {
  /// The value that all rows of the section share, as the first one has it.
  public internal(set) var key: Key
  /// At least one.
  public internal(set) var rows: Rows<Model>

  /// A section with its rows.
  public init(key: Key, rows: Rows<Model>) {
    self.key = key
    self.rows = rows
  }
}

extension RowSection: Equatable where Key: Equatable, Model: Equatable {}

/// By its key, which no other section has where the rows are in the order of their keys.
extension RowSection: Identifiable where Key: Hashable {
  public var id: Key { key }
}

/// Cuts a watched result into sections, and keeps them up with its changes.
///
/// A section is a run of rows with one key. A change costs what it changes: the run of a row is found
/// by the numbers of rows in the runs, and only this run and its place among the others are new. Only
/// where a row of another key comes into the middle of a run, or goes from between two of one key, the
/// shorter part is moved: in a result that is in the order of its keys this happens to rows alone that
/// change as well.
struct SectionRuns<Key: Sendable, Model: Sendable>: Sendable {
  typealias Section = RowSection<Key, Model>

  private(set) var sections = Rows<Section>()
  private var counts = RunCounts()
  private let key: @Sendable (Model) -> Key
  private let isSame: @Sendable (Key, Key) -> Bool
  /// How many rows were put into sections or moved between them, for tests of the cost.
  private(set) var movedCount = 0

  init(
    by key: @escaping @Sendable (Model) -> Key, isSame: @escaping @Sendable (Key, Key) -> Bool
  ) {
    self.key = key
    self.isSame = isSame
  }

  mutating func apply(_ change: ResultChange<Model>) {
    switch change {
    case .initial(let rows, _): begin(rows)
    case .reset(_, let difference), .update(let difference): apply(difference)
    }
  }

  /// Takes rows in the place of those that there are.
  private mutating func begin(_ rows: Rows<Model>) {
    var all = RowsBuilder<Section>()
    var counts: [Int] = []
    var open: (key: Key, rows: RowsBuilder<Model>, count: Int)?
    func end() {
      guard let section = open else { return }
      all.append(Section(key: section.key, rows: section.rows.rows()))
      counts.append(section.count)
    }
    for row in rows {
      let key = key(row)
      if open.map({ !isSame($0.key, key) }) != false {
        end()
        open = (key, RowsBuilder(), 0)
      }
      open?.rows.append(row)
      open?.count += 1
    }
    end()
    sections = all.rows()
    self.counts = RunCounts(counts)
    movedCount += rows.count
  }

  private mutating func apply(_ difference: ResultDifference<Model>) {
    for removal in difference.removals { remove(at: removal.offset) }
    for insertion in difference.insertions { insert(insertion.model, at: insertion.offset) }
    for update in difference.updates {
      let (place, start) = counts.run(at: update.offset)
      if isSame(sections[place].key, key(update.model)) {
        change(place) { $0.root.set(update.model, at: update.offset - start) }
        movedCount += 1
      } else {
        remove(at: update.offset)
        insert(update.model, at: update.offset)
      }
    }
  }
}

// MARK: One row

extension SectionRuns {
  private mutating func remove(at offset: Int) {
    let (place, start) = counts.run(at: offset)
    movedCount += 1
    guard sections[place].rows.count == 1 else {
      return change(place) { $0.replace(offset - start..<offset - start + 1, with: []) }
    }
    removeSection(place)
    if place > 0, place < sections.count, isSame(sections[place - 1].key, sections[place].key) {
      join(place - 1)
    }
  }

  private mutating func insert(_ model: Model, at offset: Int) {
    let key = key(model)
    movedCount += 1
    func isOf(_ place: Int) -> Bool {
      place >= 0 && place < sections.count && isSame(sections[place].key, key)
    }
    func put(_ offset: Int, into rows: inout Rows<Model>) {
      rows.replace(offset..<offset, with: [model])
    }
    var (place, start) =
      offset < counts.rowCount ? counts.run(at: offset) : (sections.count, offset)
    if isOf(place) { return change(place) { put(offset - start, into: &$0) } }
    if offset == start {
      if isOf(place - 1) { return change(place - 1) { put($0.count, into: &$0) } }
    } else {
      cut(place, at: offset - start)
      place += 1
    }
    insertSection(Section(key: key, rows: [model]), at: place)
  }
}

// MARK: Sections

extension SectionRuns {
  private mutating func change(_ place: Int, _ body: (inout Rows<Model>) -> Void) {
    var section = sections[place]
    let count = section.rows.count
    body(&section.rows)
    // Equal values may be spelt otherwise, such as 0.0 and -0.0.
    if let first = section.rows.first { section.key = key(first) }
    counts.add(section.rows.count - count, to: place)
    sections.root.set(section, at: place)
  }

  private mutating func insertSection(_ section: Section, at place: Int) {
    sections.replace(place..<place, with: [section])
    counts.insert(section.rows.count, at: place)
  }

  private mutating func removeSection(_ place: Int) {
    sections.replace(place..<place + 1, with: [])
    counts.remove(at: place)
  }

  /// Makes two sections of one, of which the second begins with a row of it.
  private mutating func cut(_ place: Int, at offset: Int) {
    let section = sections[place]
    let end = section.rows.count
    let isFirstShorter = offset < end - offset
    let part = isFirstShorter ? 0..<offset : offset..<end
    let rows = Rows(section.rows[part])
    let moved = Section(key: rows.first.map(key) ?? section.key, rows: rows)
    change(place) { $0.replace(part, with: []) }
    insertSection(moved, at: isFirstShorter ? place : place + 1)
    movedCount += part.count
  }

  /// Makes one section of two that follow each other.
  private mutating func join(_ place: Int) {
    let (left, right) = (sections[place].rows, sections[place + 1].rows)
    movedCount += min(left.count, right.count)
    if left.count < right.count {
      removeSection(place)
      change(place) { $0.replace(0..<0, with: ContiguousArray(left)) }
    } else {
      removeSection(place + 1)
      change(place) { $0.replace($0.count..<$0.count, with: ContiguousArray(right)) }
    }
  }
}
