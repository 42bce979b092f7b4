import LarderTestKit
import Testing

@testable import Larder

/// The state machine alone, with rows that come from no store.
@Suite struct ResultRowsTests {
  private static func row(_ value: Int, _ key: Int, _ stamp: UInt64) -> Row {
    let place = [value, key].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return Row(place: place, keyByteCount: 2, stamp: stamp)
  }

  private static func selection(offset: Int, limit: Int?) -> Selection {
    var selection = Selection()
    selection.skipped = offset
    selection.maximum = limit
    return selection
  }

  /// Rows by their keys, as a store would have them.
  private struct Model {
    var rows: [Int: Row] = [:]

    var sorted: [Row] { rows.values.sorted { $0.order($1.place) < 0 } }

    mutating func change(_ stamp: UInt64, using random: inout RandomSource) -> [ResultRows.Change] {
      var changes: [ResultRows.Change] = []
      let range = random.pick([3, 20, 400])
      for key in Set(
        (0..<random.int(1..<random.pick([3, 12, 60]))).map { _ in random.int(0..<range) })
      {
        let before = rows[key]
        rows[key] =
          random.once(in: 3)
          ? nil : row(random.int(0..<random.pick([2, 40])), key, stamp)
        if let old = before, random.once(in: 3) {
          // Changed, and in its place.
          rows[key] = Row(place: old.place, keyByteCount: 2, stamp: stamp)
        }
        changes.append(ResultRows.Change(before: before, after: rows[key]))
      }
      return changes
    }
  }

  private static func applied(_ difference: RowDifference, to old: [Row]) -> [Row] {
    var rows = old
    for removal in difference.removals { rows.remove(at: removal.offset) }
    for insertion in difference.insertions { rows.insert(insertion.row, at: insertion.offset) }
    for update in difference.updates { rows[update.offset] = update.row }
    return rows
  }

  @Test("applied in order, the differences of any window make what the rows then are")
  func oracle() throws {
    var random = RandomSource()
    var compared = 0
    var refills = 0
    var moves = 0
    func hasMetAll() -> Bool { refills > 50 && moves > 1_000 }
    while compared < 15_000 || compared < 300_000 && !hasMetAll() {
      var model = Model()
      let selection = Self.selection(
        offset: random.pick([0, 0, 1, 5, 30, 1000]),
        limit: random.pick([nil, nil, 0, 1, 2, 7, 40, 500]))
      var rows = ResultRows(selection, marginCount: random.pick([0, 1, 5, nil]))
      if random.bool() { _ = model.change(1, using: &random) }
      rows.replace(by: Array(model.sorted.prefix(rows.wantedCount)))
      for stamp in 2..<80 as Range<UInt64> {
        let old = rows.visibleRows
        var step = try rows.begin(model.change(stamp, using: &random))
        if step.needsRows {
          refills += 1
          try rows.refill(Array(model.sorted.prefix(rows.wantedCount)), &step)
        }
        let difference = rows.finish(step)
        let expected = Array(
          model.sorted.dropFirst(selection.skipped).prefix(selection.maximum ?? .max))

        try #require(same(rows.visibleRows, expected), "\(selection) \(random.hint)")
        let found = Self.applied(difference, to: old)
        try #require(same(found, expected), "\(selection) \(random.hint)")
        try check(difference, from: old, to: expected, random.hint)
        moves += difference.insertions.count { $0.origin != nil }
        compared += 1
      }
    }
    #expect(hasMetAll())
  }

  private func same(_ left: [Row], _ right: [Row]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
  }

  /// Order of the parts, links both ways, and nothing told twice or for nothing.
  private func check(
    _ difference: RowDifference, from old: [Row], to new: [Row], _ hint: String
  ) throws {
    let removals = difference.removals.map(\.offset)
    let insertions = difference.insertions.map(\.offset)
    try #require(removals == Array(Set(removals)).sorted(by: >))
    try #require(insertions == Array(Set(insertions)).sorted())
    for removal in difference.removals {
      let row = old[removal.offset]
      let isStill = new.contains { $0.key == row.key }
      try #require((removal.destination != nil) == isStill, "\(hint)")
      guard let destination = removal.destination else { continue }
      let insertion = difference.insertions.first { $0.offset == destination }
      try #require(insertion?.origin == removal.offset)
      try #require(insertion?.row.key == row.key)
    }
    for insertion in difference.insertions {
      let wasThere = old.contains { $0.key == insertion.row.key }
      try #require((insertion.origin != nil) == wasThere, "\(hint)")
    }
    let updates = difference.updates.map(\.offset)
    try #require(updates == Array(Set(updates)).sorted())
    try #require(Set(updates).isDisjoint(with: insertions))
    for update in difference.updates {
      try #require(!old.contains { $0.isSame(as: update.row) })
    }
  }

  @Test("a row whose values change and whose neighbours stay is updated, and has not moved")
  func staying() throws {
    var rows = ResultRows(Self.selection(offset: 0, limit: nil))
    rows.replace(by: [Self.row(10, 1, 1), Self.row(20, 2, 1), Self.row(30, 3, 1)])

    let step = try rows.begin([.init(before: Self.row(20, 2, 1), after: Self.row(25, 2, 2))])
    let difference = rows.finish(step)

    #expect(difference.removals.isEmpty)
    #expect(difference.insertions.isEmpty)
    #expect(difference.updates.map(\.offset) == [1])
  }

  @Test("a row that passes another has moved, and only that one")
  func moving() throws {
    var rows = ResultRows(Self.selection(offset: 0, limit: nil))
    rows.replace(by: (1...5).map { Self.row(10 * $0, $0, 1) })

    let step = try rows.begin([.init(before: Self.row(20, 2, 1), after: Self.row(45, 2, 2))])
    let difference = rows.finish(step)

    #expect(difference.removals == [.init(offset: 1, destination: 3)])
    #expect(difference.insertions.map(\.offset) == [3])
    #expect(difference.insertions.map(\.origin) == [1])
    #expect(difference.updates.isEmpty)
  }

  @Test("changes that contradict the rows are refused, and leave them as they were")
  func inconsistent() throws {
    var rows = ResultRows(Self.selection(offset: 0, limit: nil))
    let old = [Self.row(10, 1, 1), Self.row(20, 2, 1)]
    rows.replace(by: old)

    let wrong: [ResultRows.Change] = [
      .init(before: Self.row(10, 1, 7), after: nil), .init(before: Self.row(11, 1, 1), after: nil),
      .init(before: nil, after: Self.row(20, 2, 9)),
      .init(before: Self.row(20, 2, 5), after: Self.row(20, 2, 6)),
    ]
    for change in wrong {
      #expect(throws: ResultRows.Inconsistent.self) {
        _ = try rows.begin([.init(before: nil, after: Self.row(15, 3, 1)), change])
      }
      #expect(same(rows.visibleRows, old))
    }
  }
}
