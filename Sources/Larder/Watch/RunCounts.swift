/// How many rows each of the runs has that a list is made of, to find the run of a row, and the rows of
/// a run.
///
/// In pieces, as ``OrderedRows``: a run is found, put in or taken out at about the same price in ten
/// runs as in a hundred thousand.
struct RunCounts: Sendable {
  private static let fullCount = 512

  /// None empty, except for the only one.
  private var pieces: [[Int]] = [[]]
  /// Of each piece, the sum of its counts.
  private var sums = [0]
  /// How many rows there are in all runs.
  private(set) var rowCount = 0

  init() {}

  init(_ counts: [Int]) {
    if counts.isEmpty { return }
    pieces = stride(from: 0, to: counts.count, by: Self.fullCount).map {
      Array(counts[$0..<min($0 + Self.fullCount, counts.count)])
    }
    sums = pieces.map { $0.reduce(0, +) }
    rowCount = sums.reduce(0, +)
  }

  /// The run that a row is in, and the offset of the first row of the run.
  ///
  /// - Precondition: There is a row at this offset.
  func run(at offset: Int) -> (run: Int, start: Int) {
    var (piece, run, start) = (0, 0, 0)
    while start + sums[piece] <= offset {
      start += sums[piece]
      run += pieces[piece].count
      piece += 1
    }
    for count in pieces[piece] {
      if start + count > offset { break }
      start += count
      run += 1
    }
    return (run, start)
  }

  /// How many rows there are in the runs before one.
  func start(of run: Int) -> Int {
    var (piece, left, start) = (0, run, 0)
    while piece < pieces.count - 1, left >= pieces[piece].count {
      left -= pieces[piece].count
      start += sums[piece]
      piece += 1
    }
    return pieces[piece][..<left].reduce(start, &+)
  }

  /// Adds rows to a run, or takes some away.
  mutating func add(_ difference: Int, to run: Int) {
    let (piece, place) = place(of: run)
    pieces[piece][place] += difference
    sums[piece] += difference
    rowCount += difference
  }

  /// Puts a run in at a place.
  mutating func insert(_ count: Int, at run: Int) {
    let (piece, place) = place(of: run)
    pieces[piece].insert(count, at: place)
    sums[piece] += count
    rowCount += count
    guard pieces[piece].count > 2 * Self.fullCount else { return }
    let half = Array(pieces[piece][Self.fullCount...])
    pieces[piece].removeLast(half.count)
    pieces.insert(half, at: piece + 1)
    let sum = half.reduce(0, +)
    sums[piece] -= sum
    sums.insert(sum, at: piece + 1)
  }

  /// Takes a run out.
  mutating func remove(at run: Int) {
    let (piece, place) = place(of: run)
    let count = pieces[piece].remove(at: place)
    sums[piece] -= count
    rowCount -= count
    if pieces[piece].isEmpty, pieces.count > 1 {
      pieces.remove(at: piece)
      sums.remove(at: piece)
    }
  }

  /// Where a run is, or would be behind all others.
  private func place(of run: Int) -> (piece: Int, place: Int) {
    var (piece, left) = (0, run)
    while piece < pieces.count - 1, left >= pieces[piece].count {
      left -= pieces[piece].count
      piece += 1
    }
    return (piece, left)
  }
}
