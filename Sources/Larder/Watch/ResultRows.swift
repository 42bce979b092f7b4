/// The rows of a watched result, kept up with the changes of its documents: no locks and no files
/// here, only what follows from what.
///
/// Where the query has a limit, these are the rows up to its end and some more behind it, so that
/// rows which leave the window can be followed by others without asking the store.
struct ResultRows: Sendable {
  /// The offsets that the query selects.
  private(set) var window: Range<Int>
  private var rows = OrderedRows()
  /// Whether these are all rows of the result; otherwise all up to the last of them.
  private(set) var isComplete = true

  /// How many more rows than the window needs are asked for.
  private var marginCount = 0
  private let wantedMarginCount: Int?

  /// - Parameter marginCount: More rows than the window needs; what is worth while if nil.
  init(_ selection: Selection, marginCount: Int? = nil) {
    window = selection.skipped..<selection.skipped
    wantedMarginCount = marginCount
    reach(selection.maximum ?? .max)
  }

  /// Lets the window have so many rows. The rows that there are stay; whether they are enough is then
  /// for ``isMissingRows`` to say.
  mutating func reach(_ limit: Int) {
    let end = window.lowerBound.addingReportingOverflow(limit)
    window = window.lowerBound..<(end.overflow ? Int.max : end.partialValue)
    marginCount = limit == .max ? 0 : wantedMarginCount ?? min(max(limit / 2, 32), 4096)
  }

  /// How many rows the window has at most.
  var limit: Int { window.upperBound == .max ? .max : window.count }

  var count: Int { rows.count }

  /// How many rows to ask the store for; `.max` for all.
  var wantedCount: Int {
    guard window.upperBound < .max / 2 else { return .max }
    return window.isEmpty ? 0 : window.upperBound + marginCount
  }

  var visible: Range<Int> {
    let low = min(window.lowerBound, rows.count)
    return low..<max(low, min(window.upperBound, rows.count))
  }

  /// Whether so many changes may leave the window with too few rows.
  func mayNeedRows(after changeCount: Int) -> Bool {
    !isComplete && rows.count - changeCount < window.upperBound
  }

  var visibleRows: [Row] { rows[visible] }

  /// Whether the window has room for rows that were not read.
  var isMissingRows: Bool { !isComplete && rows.count < window.upperBound }

  var last: Row? { rows.last }

  subscript(range: Range<Int>) -> [Row] { rows[range] }

  /// Takes rows from the store that come behind those that there are.
  ///
  /// - Parameters:
  ///   - new: The first ones, in their order.
  ///   - wanted: How many were asked for.
  ///   - isCut: Whether there may be more, however few they are.
  mutating func append(_ new: [Row], wanted: Int, isCut: Bool = false) {
    rows.append(new)
    isComplete = !isCut && (new.count < wanted || wanted == .max)
  }

  /// Takes rows from the store for those that there are.
  ///
  /// - Parameters:
  ///   - new: The first ones of the result, in their order, at most ``wantedCount``.
  ///   - isCut: Whether there may be more, however few they are.
  mutating func replace(by new: [Row], isCut: Bool = false) {
    isComplete = !isCut && (new.count < wantedCount || wantedCount == .max)
    rows = OrderedRows(new)
  }
}

// MARK: A step

extension ResultRows {
  /// What has become of one document: its row before and now, nil where it is not in the result.
  struct Change {
    var before: Row?
    var after: Row?
  }

  /// The changes do not follow from the rows; read them anew.
  struct Inconsistent: Error {}

  /// A step that has been taken up to asking the store for more rows.
  struct Step {
    /// With the offsets that they had, ascending.
    fileprivate var removed: [(offset: Int, row: Row)] = []
    /// With the offsets that they have, ascending.
    fileprivate var inserted: [(offset: Int, row: Row)] = []
    /// Likewise.
    fileprivate var updated: [RowDifference.Update] = []
    fileprivate let oldCount: Int
    /// Whether rows are missing behind the last.
    fileprivate(set) var needsRows = false
  }

  /// Takes the changes of a step, at most one for each document.
  ///
  /// Each place is looked for once: in a long result most of what that reads is not in the
  /// processor's cache. Where rows stand afterwards follows from where they stood.
  ///
  /// - Throws: ``Inconsistent``; the rows are as they were then.
  mutating func begin(_ changes: [Change]) throws(Inconsistent) -> Step {
    var step = Step(oldCount: rows.count)
    if window.isEmpty {
      // Not followed, and so to be read should the window grow.
      isComplete = false
      return step
    }
    let bound = isComplete ? nil : rows.last?.place
    var replaced: [(position: OrderedRows.Position, row: Row)] = []
    var edits: [OrderedRows.Edit] = []
    for change in changes {
      let isInPlace = change.before?.place == change.after?.place
      if isInPlace, change.before?.stamp == change.after?.stamp { continue }
      if let before = change.before, let position = try position(of: before, bound) {
        if isInPlace, let after = change.after {
          replaced.append((position, after))
        } else {
          edits.append(rows.edit(.remove, before, at: position))
        }
      }
      if let after = change.after, !isInPlace, !isBehind(after, bound) {
        let position = rows.position(of: after.place)
        guard !position.isFound else { throw Inconsistent() }
        edits.append(rows.edit(.insert, after, at: position))
      }
    }
    edits.sort()
    step.updated = replaced.map { .init(offset: rows.offset(of: $0.position), row: $0.row) }
    for (position, row) in replaced { rows.replace(position, by: row) }
    rows.apply(edits)
    step.note(edits)
    step.needsRows = isMissingRows
    return step
  }

  /// Where a row is that was in the result; nil where it is behind the last that is known.
  private func position(
    of row: Row, _ bound: [UInt8]?
  ) throws(Inconsistent) -> OrderedRows.Position? {
    let position = rows.position(of: row.place)
    if !position.isFound, isBehind(row, bound) { return nil }
    guard position.isFound, rows[position].stamp == row.stamp else { throw Inconsistent() }
    return position
  }

  /// Whether a row is behind the last that is known, and so not followed.
  func isBehind(_ row: Row) -> Bool { isBehind(row, rows.last?.place) }

  private func isBehind(_ row: Row, _ bound: [UInt8]?) -> Bool {
    guard !isComplete else { return false }
    guard let bound else { return true }
    return row.order(bound) > 0
  }

  /// Takes rows from the store, so that none is missing.
  ///
  /// - Parameters:
  ///   - new: As for ``replace(by:isCut:)``.
  ///   - isCut: Likewise.
  /// - Throws: ``Inconsistent``; the rows are of no use then.
  mutating func refill(
    _ new: [Row], isCut: Bool = false, _ step: inout Step
  ) throws(Inconsistent) {
    guard new.count >= rows.count else { throw Inconsistent() }
    for (kept, found) in zip(rows[0..<rows.count], new) {
      guard kept.isSame(as: found) else { throw Inconsistent() }
    }
    let more = new[rows.count...]
    step.inserted += zip(more.indices, more).map { ($0, $1) }
    rows.append(Array(more))
    step.needsRows = false
    isComplete = !isCut && new.count < wantedCount
  }

  /// What the window sees of a step.
  mutating func finish(_ step: consuming Step) -> RowDifference {
    var steps = RowDifference.Steps(oldCount: step.oldCount, newCount: rows.count)
    steps.removed = step.removed
    steps.inserted = step.inserted
    steps.updated = step.updated
    let difference = RowDifference(steps, window: window) { rows[$0] }
    if wantedCount < .max, rows.count > wantedCount + marginCount {
      rows.truncate(to: wantedCount)
      isComplete = false
    }
    return difference
  }
}

extension ResultRows.Step {
  /// Takes down which rows have gone and come, and where those stand now that have changed in their
  /// places.
  ///
  /// - Parameter edits: Ascending.
  fileprivate mutating func note(_ edits: [OrderedRows.Edit]) {
    for edit in edits {
      switch edit.kind {
      case .remove: removed.append((edit.offset, edit.row))
      case .insert:
        inserted.append((edit.offset - removed.count + inserted.count, edit.row))
      }
    }
    updated.sort { $0.offset < $1.offset }
    var (passed, shift) = (0, 0)
    for index in updated.indices {
      while passed < edits.count, edits[passed].offset <= updated[index].offset {
        shift += edits[passed].kind == .insert ? 1 : -1
        passed += 1
      }
      updated[index].offset += shift
    }
  }
}
