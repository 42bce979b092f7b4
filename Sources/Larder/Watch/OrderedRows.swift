/// Rows in their order, in pieces, so that one is put in, taken out or counted up to at the same
/// price in a long result as in a short one.
///
/// The numbers of rows in the pieces lie beside each other: adding up the four thousand of a
/// million rows takes about a microsecond, and is less to keep right than a tree. Only results that
/// are handed out share anything with those before (``Rows``): these have one owner, and so their
/// list of pieces is changed where it is.
struct OrderedRows: Sendable {
  private static let fullCount = 512

  /// Each sorted, none empty, each before the next.
  private var pieces: [[Row]] = []
  private var counts: [Int32] = []
  private(set) var count = 0

  init() {}

  /// - Parameter rows: In their order.
  init(_ rows: [Row]) {
    append(rows)
  }

  /// Where a place is, or would be.
  struct Position {
    fileprivate let piece: Int
    fileprivate let index: Int
    let isFound: Bool
  }

  func position(of place: [UInt8]) -> Position {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) >> 1
      let piece = pieces[middle]
      if piece[piece.count - 1].order(place) < 0 { low = middle + 1 } else { high = middle }
    }
    guard low < pieces.count else { return Position(piece: low, index: 0, isFound: false) }
    let piece = low
    (low, high) = (0, pieces[piece].count)
    while low < high {
      let middle = (low + high) >> 1
      if pieces[piece][middle].order(place) < 0 { low = middle + 1 } else { high = middle }
    }
    return Position(
      piece: piece, index: low,
      isFound: low < pieces[piece].count && pieces[piece][low].order(place) == 0)
  }

  subscript(position: Position) -> Row { pieces[position.piece][position.index] }

  /// How many rows stand before a position.
  func offset(of position: Position) -> Int {
    var sum = 0
    counts.withUnsafeBufferPointer { counts in
      for piece in 0..<position.piece { sum &+= Int(counts[piece]) }
    }
    return sum + position.index
  }

  var last: Row? { pieces.last?.last }

  subscript(offset: Int) -> Row {
    var left = offset
    var piece = 0
    while left >= Int(counts[piece]) {
      left -= Int(counts[piece])
      piece += 1
    }
    return pieces[piece][left]
  }

  /// The rows at some offsets.
  subscript(range: Range<Int>) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(range.count)
    var start = 0
    for (piece, count) in zip(pieces, counts) {
      let end = start + Int(count)
      if start >= range.upperBound { break }
      if end > range.lowerBound {
        let low = max(range.lowerBound, start) - start
        rows.append(contentsOf: piece[low..<min(range.upperBound, end) - start])
      }
      start = end
    }
    return rows
  }
}

// MARK: Changes

extension OrderedRows {
  /// Puts a row in, where none stands.
  mutating func insert(_ row: Row) {
    var position = position(of: row.place)
    if position.piece == pieces.count {
      // Behind all others.
      if pieces.isEmpty {
        pieces.append([])
        counts.append(0)
      }
      let piece = pieces.count - 1
      position = Position(piece: piece, index: pieces[piece].count, isFound: false)
    }
    pieces[position.piece].insert(row, at: position.index)
    counts[position.piece] += 1
    count += 1
    if pieces[position.piece].count > 2 * Self.fullCount { split(position.piece) }
  }

  private mutating func split(_ piece: Int) {
    let half = pieces[piece].count / 2
    let rest = Array(pieces[piece][half...])
    pieces[piece].removeLast(rest.count)
    counts[piece] = Int32(half)
    pieces.insert(rest, at: piece + 1)
    counts.insert(Int32(rest.count), at: piece + 1)
  }

  /// Takes a row out, where one stands.
  mutating func remove(_ place: [UInt8]) {
    let position = position(of: place)
    guard position.isFound else { return }
    pieces[position.piece].remove(at: position.index)
    counts[position.piece] -= 1
    count -= 1
    if pieces[position.piece].isEmpty {
      pieces.remove(at: position.piece)
      counts.remove(at: position.piece)
    }
  }

  /// Puts another version of a document in the place of the one that stands there.
  mutating func replace(_ position: Position, by row: Row) {
    pieces[position.piece][position.index] = row
  }

  /// Appends rows that come behind all others, in their order.
  mutating func append(_ rows: [Row]) {
    for start in stride(from: 0, to: rows.count, by: Self.fullCount) {
      let piece = Array(rows[start..<min(start + Self.fullCount, rows.count)])
      pieces.append(piece)
      counts.append(Int32(piece.count))
    }
    count += rows.count
  }

  /// Lets go of all but the first rows.
  mutating func truncate(to limit: Int) {
    while count > limit, let last = counts.last {
      let surplus = min(count - limit, Int(last))
      pieces[pieces.count - 1].removeLast(surplus)
      counts[counts.count - 1] -= Int32(surplus)
      count -= surplus
      if pieces[pieces.count - 1].isEmpty {
        pieces.removeLast()
        counts.removeLast()
      }
    }
  }
}
