/// Rows in their order, in pieces, so that one is put in, taken out or counted up to at the same
/// price in a long result as in a short one.
///
/// In a long result nearly all that is read to find a place is not in the processor's cache. So the
/// first bytes of the last place of each piece lie in one flat array, and a piece has room for some
/// more rows from the start: the first row that comes to it does not have it moved. Only results that
/// are handed out share anything with those before (``Rows``): these have one owner, and so their list
/// of pieces is changed where it is.
struct OrderedRows: Sendable {
  /// How many rows a piece begins with; it is split at twice as many.
  static let usualCount = 128
  private static let spareCount = 16

  /// Each sorted, none empty, each before the next.
  private var pieces: [[Row]] = []
  /// Of the last place of each piece.
  private var ends: [PlacePrefix] = []
  private var counts = RunCounts()
  var count: Int { counts.rowCount }

  init() {}

  /// - Parameter rows: In their order.
  init(_ rows: [Row]) {
    append(rows)
  }

  /// Where a place is, or would be: true until rows are put in or taken out.
  struct Position {
    fileprivate let piece: Int
    fileprivate let index: Int
    let isFound: Bool
  }

  func position(of place: [UInt8]) -> Position {
    guard !pieces.isEmpty else { return Position(piece: 0, index: 0, isFound: false) }
    // Behind all others is behind the last row of the last piece.
    let piece = min(self.piece(of: place), pieces.count - 1)
    return pieces[piece].withUnsafeBufferPointer { rows in
      var (low, high) = (0, rows.count)
      while low < high {
        let middle = (low + high) >> 1
        if rows[middle].order(place) < 0 { low = middle + 1 } else { high = middle }
      }
      return Position(
        piece: piece, index: low, isFound: low < rows.count && rows[low].order(place) == 0)
    }
  }

  /// The first piece whose last place is not before this one.
  private func piece(of place: [UInt8]) -> Int {
    let prefix = PlacePrefix(place)
    return ends.withUnsafeBufferPointer { ends in
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) >> 1
        let isBefore =
          ends[middle] == prefix
          ? pieces[middle][pieces[middle].count - 1].order(place) < 0 : ends[middle] < prefix
        if isBefore { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  subscript(position: Position) -> Row { pieces[position.piece][position.index] }

  /// How many rows stand before a position.
  func offset(of position: Position) -> Int { counts.start(of: position.piece) + position.index }

  var last: Row? { pieces.last?.last }

  subscript(offset: Int) -> Row {
    let (piece, start) = counts.run(at: offset)
    return pieces[piece][offset - start]
  }

  /// The rows at some offsets.
  subscript(range: Range<Int>) -> [Row] {
    if range.isEmpty { return [] }
    var rows: [Row] = []
    rows.reserveCapacity(range.count)
    var (piece, start) = counts.run(at: range.lowerBound)
    while start < range.upperBound {
      let end = start + pieces[piece].count
      let low = max(range.lowerBound, start) - start
      rows.append(contentsOf: pieces[piece][low..<min(range.upperBound, end) - start])
      (piece, start) = (piece + 1, end)
    }
    return rows
  }
}

// MARK: Changes

extension OrderedRows {
  /// A row to be put in or taken out; in the order of the places.
  struct Edit: Comparable {
    enum Kind { case insert, remove }

    let kind: Kind
    let row: Row
    fileprivate let position: Position
    /// How many rows stand before it, before any edit.
    let offset: Int

    static func < (left: Edit, right: Edit) -> Bool {
      if left.offset != right.offset { return left.offset < right.offset }
      return left.row.order(right.row.place) < 0
    }

    static func == (left: Edit, right: Edit) -> Bool {
      left.offset == right.offset && left.kind == right.kind && left.row.place == right.row.place
    }
  }

  func edit(_ kind: Edit.Kind, _ row: Row, at position: Position) -> Edit {
    Edit(kind: kind, row: row, position: position, offset: offset(of: position))
  }

  /// Puts rows in where none stands, and takes rows out where they stand.
  ///
  /// - Parameter edits: Of the list as it is now, in their order, at most one for each place.
  mutating func apply(_ edits: [Edit]) {
    // From the end, so that the positions before stay true, up to the first piece that was split or has
    // gone. That may be the piece before an edit's own: a row that belongs into a piece that has gone comes
    // to the end of the one before it.
    var validPieces = Int.max
    for edit in edits.reversed() {
      let isValid = edit.position.piece < validPieces
      let position = isValid ? edit.position : position(of: edit.row.place)
      let isWhole = edit.kind == .insert ? insert(edit.row, at: position) : remove(at: position)
      if !isWhole { validPieces = min(validPieces, position.piece) }
    }
  }

  /// - Returns: False where the piece had to be split, or is the first one.
  private mutating func insert(_ row: Row, at position: Position) -> Bool {
    if pieces.isEmpty {
      append([row])
      return false
    }
    let piece = position.piece
    pieces[piece].insert(row, at: position.index)
    counts.add(1, to: piece)
    if position.index == pieces[piece].count - 1 { ends[piece] = PlacePrefix(row.place) }
    if pieces[piece].count <= 2 * Self.usualCount { return true }
    let rest = pieces[piece].count / 2
    insertPiece(pieces[piece].suffix(rest), at: piece + 1)
    shorten(piece, by: rest)
    return false
  }

  /// - Returns: False where the piece has gone with its last row.
  private mutating func remove(at position: Position) -> Bool {
    let piece = position.piece
    guard position.index == pieces[piece].count - 1 else {
      pieces[piece].remove(at: position.index)
      counts.add(-1, to: piece)
      return true
    }
    return shorten(piece, by: 1)
  }

  /// Puts another version of a document in the place of the one that stands there.
  mutating func replace(_ position: Position, by row: Row) {
    pieces[position.piece][position.index] = row
  }

  /// Appends rows that come behind all others, in their order.
  mutating func append(_ rows: [Row]) {
    var rest = rows[...]
    if let piece = pieces.indices.last {
      let some = rest.prefix(max(0, Self.usualCount - pieces[piece].count))
      if let end = some.last {
        pieces[piece].append(contentsOf: some)
        ends[piece] = PlacePrefix(end.place)
        counts.add(some.count, to: piece)
        rest = rest.dropFirst(some.count)
      }
    }
    while !rest.isEmpty {
      let some = rest.prefix(Self.usualCount)
      insertPiece(some, at: pieces.count)
      rest = rest.dropFirst(some.count)
    }
  }

  /// Releases all but the first rows.
  mutating func truncate(to limit: Int) {
    while count > limit, let last = pieces.last {
      shorten(pieces.count - 1, by: min(count - limit, last.count))
    }
  }

  private mutating func insertPiece(_ rows: ArraySlice<Row>, at piece: Int) {
    var new: [Row] = []
    new.reserveCapacity(max(rows.count, Self.usualCount) + Self.spareCount)
    new.append(contentsOf: rows)
    pieces.insert(new, at: piece)
    ends.insert(PlacePrefix(rows[rows.endIndex - 1].place), at: piece)
    counts.insert(rows.count, at: piece)
  }

  /// Takes the last rows out of a piece.
  ///
  /// - Returns: False where it had no others, and has gone.
  @discardableResult
  private mutating func shorten(_ piece: Int, by count: Int) -> Bool {
    if count == pieces[piece].count {
      pieces.remove(at: piece)
      ends.remove(at: piece)
      counts.remove(at: piece)
      return false
    }
    pieces[piece].removeLast(count)
    ends[piece] = PlacePrefix(pieces[piece][pieces[piece].count - 1].place)
    counts.add(-count, to: piece)
    return true
  }
}
