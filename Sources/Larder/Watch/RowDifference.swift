/// How one result became another: the rows that left it, those that came, and those that have
/// stayed and changed.
struct RowDifference: Sendable {
  struct Removal: Sendable, Equatable {
    /// Where the row was.
    var offset: Int
    /// Where it is now, if it has only moved.
    var destination: Int?
  }

  struct Insertion: Sendable {
    /// Where the row is.
    var offset: Int
    let row: Row
    /// Where it was, if it has only moved.
    var origin: Int?
  }

  struct Update: Sendable {
    /// Where the row is.
    var offset: Int
    let row: Row
  }

  /// Descending.
  var removals: [Removal] = []
  /// Ascending.
  var insertions: [Insertion] = []
  /// Ascending.
  var updates: [Update] = []

  var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty }
}

extension RowDifference {
  /// What has happened to a list of rows, in offsets of the whole list.
  struct Steps {
    /// Rows that were taken out, with the offsets that they had, ascending.
    var removed: [(offset: Int, row: Row)] = []
    /// Rows that were put in, with the offsets that they have, ascending.
    var inserted: [(offset: Int, row: Row)] = []
    /// Rows that have stayed in their places and changed, with the offsets that they have,
    /// ascending.
    var updated: [Update] = []
    var oldCount: Int
    var newCount: Int
  }

  /// How two results differ that are each in their order.
  init(from old: [Row], to new: [Row]) {
    var steps = Steps(oldCount: old.count, newCount: new.count)
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      let order =
        left == old.count ? 1 : right == new.count ? -1 : old[left].order(new[right].place)
      if order < 0 {
        steps.removed.append((left, old[left]))
      } else if order > 0 {
        steps.inserted.append((right, new[right]))
      } else if old[left].stamp != new[right].stamp {
        steps.updated.append(Update(offset: right, row: new[right]))
      }
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
    self.init(steps, window: 0..<max(old.count, new.count)) { new[$0] }
  }

  /// What the window of a list sees of the steps.
  ///
  /// - Parameters:
  ///   - window: The offsets of the list that are seen.
  ///   - row: The row that stands at an offset now.
  init(_ steps: Steps, window: Range<Int>, row: (Int) -> Row) {
    var steps = steps
    let links = steps.link()
    let removed = steps.removed.map(\.offset)
    let inserted = steps.inserted.map(\.offset)

    // Rows that have stayed are numbered through; each list shows a run of these numbers.
    let old = KeptRows(around: removed, count: steps.oldCount, window: window)
    let new = KeptRows(around: inserted, count: steps.newCount, window: window)

    for (place, offset) in removed.enumerated() where old.visible.contains(offset) {
      let destination = links.destinations[place].map { inserted[$0] }
      removals.append(
        Removal(
          offset: offset - window.lowerBound,
          destination: destination.flatMap {
            new.visible.contains($0) ? $0 - window.lowerBound : nil
          }))
    }
    for offset in old.offsets(notIn: new.numbers) {
      removals.append(Removal(offset: offset - window.lowerBound))
    }
    removals.sort { $0.offset > $1.offset }

    for (place, insertion) in steps.inserted.enumerated()
    where new.visible.contains(insertion.offset) {
      let origin = links.origins[place].map { removed[$0] }
      insertions.append(
        Insertion(
          offset: insertion.offset - window.lowerBound, row: insertion.row,
          origin: origin.flatMap { old.visible.contains($0) ? $0 - window.lowerBound : nil }))
    }
    for offset in new.offsets(notIn: old.numbers) {
      insertions.append(Insertion(offset: offset - window.lowerBound, row: row(offset)))
    }
    insertions.sort { $0.offset < $1.offset }

    for update in steps.updated where new.visible.contains(update.offset) {
      // One that was out of sight has just come in.
      guard old.numbers.contains(new.number(of: update.offset)) else { continue }
      updates.append(Update(offset: update.offset - window.lowerBound, row: update.row))
    }
  }
}

extension RowDifference.Steps {
  /// For each row that was taken out, its place among those that were put in, and the other way.
  fileprivate struct Links {
    var destinations: [Int?]
    var origins: [Int?]
  }

  /// Finds rows that were taken out and put in again: they have moved. Those that stand between
  /// the same neighbours as before have not, and only changed.
  fileprivate mutating func link() -> Links {
    guard !removed.isEmpty, !inserted.isEmpty else {
      return Links(
        destinations: Array(repeating: nil, count: removed.count),
        origins: Array(repeating: nil, count: inserted.count))
    }
    var places: [ArraySlice<UInt8>: Int] = [:]
    for (place, removal) in removed.enumerated() { places[removal.row.key] = place }
    var hasStayed: (removed: Set<Int>, inserted: Set<Int>) = ([], [])
    // The last one that has stayed behind the same number of untouched rows.
    var last = (number: -1, offset: -1)
    for (place, insertion) in inserted.enumerated() {
      guard let origin = places[insertion.row.key] else { continue }
      let number = insertion.offset - place
      let offset = removed[origin].offset
      guard offset - origin == number, number != last.number || offset > last.offset else {
        continue
      }
      last = (number, offset)
      hasStayed.removed.insert(origin)
      hasStayed.inserted.insert(place)
      updated.append(RowDifference.Update(offset: insertion.offset, row: insertion.row))
    }
    if !hasStayed.removed.isEmpty {
      updated.sort { $0.offset < $1.offset }
      removed = removed.enumerated().filter { !hasStayed.removed.contains($0.offset) }.map(
        \.element)
      inserted = inserted.enumerated().filter { !hasStayed.inserted.contains($0.offset) }
        .map(\.element)
      places = [:]
      for (place, removal) in removed.enumerated() { places[removal.row.key] = place }
    }
    var links = Links(
      destinations: Array(repeating: nil, count: removed.count),
      origins: Array(repeating: nil, count: inserted.count))
    for (place, insertion) in inserted.enumerated() {
      guard let origin = places[insertion.row.key] else { continue }
      links.origins[place] = origin
      links.destinations[origin] = place
    }
    return links
  }
}

/// The rows of a list that have stayed, numbered through, as one of its two states shows them.
private struct KeptRows {
  /// The offsets of the others, ascending.
  let others: [Int]
  /// Offsets that are seen.
  let visible: Range<Int>
  /// Numbers of those that have stayed and are seen.
  let numbers: Range<Int>

  init(around others: [Int], count: Int, window: Range<Int>) {
    self.others = others
    let low = min(window.lowerBound, count)
    visible = low..<max(low, min(window.upperBound, count))
    let first = low - Self.count(others, below: low)
    numbers = first..<visible.upperBound - Self.count(others, below: visible.upperBound)
  }

  func number(of offset: Int) -> Int { offset - Self.count(others, below: offset) }

  /// The offsets of those that are seen here and not there.
  func offsets(notIn others: Range<Int>) -> [Int] {
    let left =
      numbers
      .lowerBound..<max(
        numbers.lowerBound, min(numbers.upperBound, others.lowerBound))
    let start = max(numbers.lowerBound, others.upperBound)
    let right = start..<max(start, numbers.upperBound)
    if left.isEmpty, right.isEmpty { return [] }
    var offsets: [Int] = []
    var passed = 0
    // Numbers ascend, so that the others are passed once.
    for number in [left, right].joined() {
      while passed < self.others.count, self.others[passed] <= number + passed { passed += 1 }
      offsets.append(number + passed)
    }
    return offsets
  }

  private static func count(_ offsets: [Int], below offset: Int) -> Int {
    var (low, high) = (0, offsets.count)
    while low < high {
      let middle = (low + high) >> 1
      if offsets[middle] < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
