/// Rows of a watched result that know where they stand, for who comes to one of them from elsewhere
/// than its offset.
///
/// In pieces, as ``OrderedRows``. Has one owner: the rows are objects.
struct PlacedRows<Model: Sendable> {
  final class Row {
    fileprivate(set) var model: Model
    fileprivate unowned var piece: Piece

    fileprivate init(_ model: Model, in piece: Piece) {
      self.model = model
      self.piece = piece
    }
  }

  fileprivate final class Piece {
    var rows: [Row] = []
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

  /// None empty, except for the only one.
  private var pieces = [Piece()]
  private(set) var count = 0

  /// Where a row stands.
  func offset(of row: Row) -> Int {
    var offset = 0
    for piece in pieces {
      if piece === row.piece { break }
      offset += piece.rows.count
    }
    return offset + (row.piece.rows.firstIndex { $0 === row } ?? 0)
  }

  /// All rows, in their order.
  var all: [Row] { pieces.flatMap(\.rows) }

  private func place(of offset: Int) -> (piece: Int, index: Int) {
    var (piece, index) = (0, offset)
    while piece < pieces.count - 1, index >= pieces[piece].rows.count {
      index -= pieces[piece].rows.count
      piece += 1
    }
    return (piece, index)
  }
}

// MARK: Changes

extension PlacedRows {
  mutating func apply(_ change: ResultChange<Model>) -> Step {
    var step = Step()
    switch change {
    case .initial(let models, _):
      step.removed = all
      pieces = [Piece()]
      count = 0
      for model in models { step.inserted.append(insert(model, at: count)) }
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

  private mutating func remove(at offset: Int) -> Row {
    let (piece, index) = place(of: offset)
    count -= 1
    let row = pieces[piece].rows.remove(at: index)
    if pieces[piece].rows.isEmpty, pieces.count > 1 { pieces.remove(at: piece) }
    return row
  }

  private mutating func insert(_ model: Model, at offset: Int) -> Row {
    let (place, index) = place(of: offset)
    let piece = pieces[place]
    let row = Row(model, in: piece)
    piece.rows.insert(row, at: index)
    count += 1
    if piece.rows.count > 2 * Self.fullCount {
      let rest = Piece()
      rest.rows = Array(piece.rows[Self.fullCount...])
      piece.rows.removeLast(rest.rows.count)
      for row in rest.rows { row.piece = rest }
      pieces.insert(rest, at: place + 1)
    }
    return row
  }
}
