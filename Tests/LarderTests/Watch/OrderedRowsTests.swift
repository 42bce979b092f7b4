import LarderTestKit
import Testing

@testable import Larder

/// The list of a watched result, beside an array that is sorted anew.
@Suite struct OrderedRowsTests {
  /// Makes places of one kind.
  enum Family: CaseIterable, CustomTestStringConvertible {
    /// As long as numbers with a short key.
    case short
    /// Equal in more bytes than are kept of the end of a piece, or in all of those.
    case alike
    /// Some begin others, some end in zeros, and one is empty.
    case zeros
    /// Of any length and any bytes.
    case any

    var testDescription: String { "\(self)" }

    func place(_ random: inout RandomSource) -> [UInt8] {
      switch self {
      case .short: [UInt8(random.int(0..<4))] + random.array(2..<3) { UInt8($0.int(0..<256)) }
      case .alike:
        Array(repeating: 7, count: random.pick([14, 15, 16, 17, 40]))
          + random.array(0..<4) { UInt8($0.int(0..<12)) }
      case .zeros: random.array(0..<22) { UInt8($0.once(in: 8) ? 1 : 0) }
      case .any: random.array(0..<24) { UInt8($0.int(0..<256)) }
      }
    }
  }

  /// A sorted array, and what is asked of it.
  private struct Model {
    var rows: [Row] = []

    /// How many rows stand before a place.
    func offset(of place: [UInt8]) -> Int {
      var (low, high) = (0, rows.count)
      while low < high {
        let middle = (low + high) / 2
        if rows[middle].place.lexicographicallyPrecedes(place) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low
    }

    func contains(_ place: [UInt8]) -> Bool {
      let offset = offset(of: place)
      return offset < rows.count && rows[offset].place == place
    }
  }

  private struct Pair {
    var model = Model()
    var rows = OrderedRows()
    var stamp: UInt64 = 0

    mutating func row(_ place: [UInt8]) -> Row {
      stamp += 1
      return Row(place: place, keyByteCount: 0, stamp: stamp)
    }

    /// Takes some rows out and puts some in, at once.
    mutating func edit(removing removed: [Row], inserting places: Set<[UInt8]>) {
      let inserted = places.map { row($0) }
      let edits =
        removed.map { rows.edit(.remove, $0, at: rows.position(of: $0.place)) }
        + inserted.map { rows.edit(.insert, $0, at: rows.position(of: $0.place)) }
      rows.apply(edits.sorted())

      let gone = Set(removed.map(\.place))
      model.rows = (model.rows.filter { !gone.contains($0.place) } + inserted)
        .sorted { $0.place.lexicographicallyPrecedes($1.place) }
    }

    func compare(_ random: inout RandomSource, _ family: Family) throws {
      let hint = Comment(rawValue: "\(family) \(random.hint)")
      let count = model.rows.count
      try #require(rows.count == count, hint)
      try #require(rows.last?.place == model.rows.last?.place, hint)
      try #require(same(rows[0..<count], model.rows[...]), hint)
      let start = random.int(0..<count + 1)
      let end = random.int(start..<count + 1)
      try #require(same(rows[start..<end], model.rows[start..<end]), hint)
      if start < count { try #require(rows[start].isSame(as: model.rows[start]), hint) }
      var places = (0..<8).map { _ in family.place(&random) } + [[], model.rows.last?.place ?? []]
      if count > 0 { places += (0..<8).map { _ in random.pick(model.rows).place } }
      for place in places {
        let position = rows.position(of: place)
        try #require(rows.offset(of: position) == model.offset(of: place), hint)
        try #require(position.isFound == model.contains(place), hint)
        if position.isFound { try #require(rows[position].place == place, hint) }
      }
    }

    private func same(_ left: [Row], _ right: ArraySlice<Row>) -> Bool {
      left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    }
  }

  @Test(
    "an ordered list says where each place is, whatever is put in and taken out",
    arguments: Family.allCases)
  func oracle(_ family: Family) throws {
    var random = RandomSource()
    // From nothing, from a row less and more than a piece, and from many pieces.
    let full = OrderedRows.usualCount
    for count in [0, 1, full - 1, full, full + 1, 2 * full, 2 * full + 1, 1_500] {
      var edited = Pair()
      edited.edit(removing: [], inserting: Set((0..<count).map { _ in family.place(&random) }))
      var loaded = edited
      loaded.rows = OrderedRows(edited.model.rows)
      for var pair in [edited, loaded] {
        try pair.compare(&random, family)
        for round in 0..<repetitions(40) {
          let present = pair.model.rows.shuffled(using: &random)
          let removed: [Row]
          switch round % 8 {
          case 0: removed = Array(present.prefix(1))
          // All of some pieces, at the end and within.
          case 1: removed = pair.model.rows.suffix(random.int(0..<3 * full))
          case 2: removed = Array(pair.model.rows.dropFirst(present.count / 3).prefix(2 * full))
          case 3 where random.once(in: 4): removed = present
          default: removed = Array(present.prefix(random.int(0..<20)))
          }
          let most = random.pick([2, 2, 20, 4 * full])
          let inserted = Set((0..<random.int(0..<most)).map { _ in family.place(&random) })
            .filter { !pair.model.contains($0) }
          pair.edit(removing: removed, inserting: inserted)
          try pair.compare(&random, family)

          if let row = pair.model.rows.randomElement(using: &random) {
            let new = pair.row(row.place)
            pair.rows.replace(pair.rows.position(of: row.place), by: new)
            pair.model.rows[pair.model.offset(of: row.place)] = new
          }
          if random.once(in: 6) {
            let limit = random.int(0..<pair.model.rows.count + 2)
            let tail = Array(pair.model.rows.dropFirst(limit))
            pair.rows.truncate(to: limit)
            pair.model.rows.removeLast(tail.count)
            try pair.compare(&random, family)
            let kept = random.int(0..<tail.count + 1)
            pair.rows.append(Array(tail[..<kept]))
            pair.rows.append(Array(tail[kept...]))
            pair.model.rows += tail
          }
          try pair.compare(&random, family)
        }
      }
    }
  }

  @Test("many rows that come to one spot at once are split into pieces, and found")
  func oneSpot() throws {
    var random = RandomSource()
    var pair = Pair()
    func place(_ first: UInt8, _ number: Int) -> [UInt8] {
      [first, UInt8(number >> 8), UInt8(number & 0xFF)]
    }
    pair.edit(removing: [], inserting: Set((0..<300).map { place($0 < 150 ? 1 : 3, $0) }))

    pair.edit(
      removing: Array(pair.model.rows[100..<200]),
      inserting: Set((0..<20_000).map { place(2, $0) }))

    try pair.compare(&random, .short)
    #expect(pair.rows.count == 20_200)
  }

  @Test("rows that belong into a piece that has gone may split the one before it")
  func goneAndSplit() throws {
    var random = RandomSource()
    let full = OrderedRows.usualCount
    func place(_ number: Int, _ last: Int = 0) -> [UInt8] {
      [UInt8(number >> 8), UInt8(number & 0xFF), UInt8(last)]
    }
    // Three pieces, of which the second is nearly twice as long as the others.
    var pair = Pair()
    pair.rows = OrderedRows((0..<3 * full).map { pair.row(place($0)) })
    pair.model.rows = pair.rows[0..<3 * full]
    pair.edit(removing: [], inserting: Set((full..<2 * full - 1).map { place($0, 1) }))

    // The last piece goes, and so do the last rows of the second, behind which others come.
    pair.edit(
      removing: Array(pair.model.rows[(2 * full + full / 2)...]),
      inserting: Set((1..<full).map { place(2 * full - 1, $0) }))

    try pair.compare(&random, .short)
  }
}
