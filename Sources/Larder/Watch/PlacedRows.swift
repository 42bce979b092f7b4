/// Rows of a watched result that know where they stand, for who comes to one of them from elsewhere
/// than its offset.
///
/// In pieces, as ``OrderedRows``. Has one owner: the rows are objects.
struct PlacedRows<Model: Sendable> {
  final class Row {
    fileprivate(set) var model: Model
    fileprivate unowned var piece: Piece
    /// Where it stood in its piece when that was last asked.
    fileprivate var index: Int

    fileprivate init(_ model: Model, in piece: Piece, at index: Int) {
      self.model = model
      self.piece = piece
      self.index = index
    }
  }

  fileprivate final class Piece {
    var rows: [Row] = []
    /// Its place among the pieces.
    var number: Int

    init(number: Int) { self.number = number }

    func take(_ rows: [Row]) {
      self.rows = rows
      for row in rows { row.piece = self }
    }

    /// Where a row stands. Others may have come or gone before it: then all are numbered anew, once for many that
    /// are asked for.
    func index(of row: Row) -> Int {
      if !rows.indices.contains(row.index) || rows[row.index] !== row {
        for index in rows.indices { rows[index].index = index }
      }
      return row.index
    }
  }

  /// What a change has done with rows.
  struct Step {
    /// Those that are gone.
    var removed: [Row] = []
    /// Those that have come.
    var inserted: [Row] = []
    /// Those that have stayed, with the models that they had.
    var updated: [(row: Row, old: Model)] = []
  }

  private static var fullCount: Int { 512 }

  /// None empty.
  private var pieces: [Piece] = []
  private var counts = RunCounts()
  var count: Int { counts.rowCount }

  /// Where a row stands.
  func offset(of row: Row) -> Int {
    counts.start(of: row.piece.number) + row.piece.index(of: row)
  }

  /// Grows with the offsets of rows, and costs less to ask for.
  func order(of row: Row) -> Int { row.piece.number << 32 | row.piece.index(of: row) }

  /// All rows, in their order.
  var all: [Row] { pieces.flatMap(\.rows) }

  /// Behind all others for an offset behind all rows.
  private func place(of offset: Int) -> (piece: Int, index: Int) {
    if offset == count, let last = pieces.last { return (last.number, last.rows.count) }
    let (piece, start) = counts.run(at: offset)
    return (piece, offset - start)
  }
}

// MARK: Changes

extension PlacedRows {
  mutating func apply(_ change: ResultChange<Model>) -> Step {
    var step = Step()
    switch change {
    case .initial(let models, _):
      step.removed = all
      step.inserted = begin(with: models)
    case .reset(_, let difference), .update(let difference):
      step.removed = difference.removals.map { remove(at: $0.offset) }
      step.inserted = difference.insertions.map { insert($0.model, at: $0.offset) }
      for update in difference.updates {
        let (piece, index) = place(of: update.offset)
        let row = pieces[piece].rows[index]
        step.updated.append((row, row.model))
        row.model = update.model
      }
    }
    return step
  }

  /// - Returns: The rows.
  private mutating func begin(with models: some Sequence<Model>) -> [Row] {
    pieces = []
    for model in models {
      if pieces.last.map({ $0.rows.count == Self.fullCount }) ?? true {
        pieces.append(Piece(number: pieces.count))
        pieces[pieces.count - 1].rows.reserveCapacity(Self.fullCount)
      }
      let piece = pieces[pieces.count - 1]
      piece.rows.append(Row(model, in: piece, at: piece.rows.count))
    }
    counts = RunCounts(pieces.map(\.rows.count))
    return all
  }

  private mutating func remove(at offset: Int) -> Row {
    let (piece, index) = place(of: offset)
    let row = pieces[piece].rows.remove(at: index)
    counts.add(-1, to: piece)
    if pieces[piece].rows.isEmpty {
      pieces.remove(at: piece)
      counts.remove(at: piece)
      renumber(from: piece)
    }
    return row
  }

  private mutating func insert(_ model: Model, at offset: Int) -> Row {
    if pieces.isEmpty { return begin(with: [model])[0] }
    let (place, index) = place(of: offset)
    let piece = pieces[place]
    let row = Row(model, in: piece, at: index)
    piece.rows.insert(row, at: index)
    counts.add(1, to: place)
    if piece.rows.count > 2 * Self.fullCount {
      let rest = Piece(number: place + 1)
      rest.take(Array(piece.rows[Self.fullCount...]))
      piece.rows.removeLast(rest.rows.count)
      pieces.insert(rest, at: place + 1)
      counts.add(-rest.rows.count, to: place)
      counts.insert(rest.rows.count, at: place + 1)
      renumber(from: place + 1)
    }
    return row
  }

  /// Costs what there are pieces, each time that one has come or gone.
  private func renumber(from place: Int) {
    for number in place..<pieces.count { pieces[number].number = number }
  }
}
