/// The terms of some segments side by side.
final class MergeCursors {
  private final class Input {
    var cursor: TermCursor
    var hasTerm: Bool

    init(_ cursor: consuming TermCursor, from term: [UInt8]) throws {
      self.cursor = cursor
      hasTerm = false
      hasTerm = try self.cursor.seek(atOrAfter: term)
    }
  }

  private var inputs: [Input] = []

  func add(_ cursor: consuming TermCursor, from term: [UInt8]) throws {
    inputs.append(try Input(cursor, from: term))
  }

  func least() -> [UInt8]? {
    var least: [UInt8]?
    for input in inputs where input.hasTerm {
      if let known = least, !input.cursor.term.lexicographicallyPrecedes(known) { continue }
      least = input.cursor.term
    }
    return least
  }

  /// In the order of the segments, which is that of their ids.
  func forEachPostings(
    of term: [UInt8], from id: UInt32, _ read: (Postings) throws -> Bool
  ) throws {
    for input in inputs where input.hasTerm && input.cursor.term == term {
      var wantsMore = true
      try input.cursor.forEachPostings(from: id) { postings in
        wantsMore = try read(postings)
        return wantsMore
      }
      if !wantsMore { return }
    }
  }

  func advance(past term: [UInt8]) throws {
    for input in inputs where input.hasTerm && input.cursor.term == term {
      input.hasTerm = try input.cursor.next()
    }
  }
}
