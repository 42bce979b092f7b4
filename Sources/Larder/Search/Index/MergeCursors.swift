/// The terms of some segments side by side, ascending.
struct MergeCursors {
  private final class Input {
    var cursor: TermCursor
    init(_ cursor: consuming TermCursor) { self.cursor = cursor }
  }

  private var inputs: [Input] = []
  /// The term that each input stands on.
  private var terms: [[UInt8]] = []
  /// The inputs that have a term and wait for their turn, the one with the least term last.
  private var waiting: [Int] = []
  /// Those that have the least term, in the order of the segments.
  private var current: [Int] = []

  /// - Parameter term: Where it begins.
  mutating func add(_ cursor: consuming TermCursor, from term: [UInt8]) throws {
    inputs.append(Input(cursor))
    terms.append([])
    let input = inputs.count - 1
    if try inputs[input].cursor.seek(atOrAfter: term) { wait(input) }
  }

  /// The least term; nil at the end.
  mutating func least() -> [UInt8]? {
    if current.isEmpty {
      while let next = waiting.last, current.first.map({ terms[$0] == terms[next] }) ?? true {
        current.append(waiting.removeLast())
      }
    }
    return current.first.map { terms[$0] }
  }

  /// Lends the postings of the least term, in the order of the segments, which is that of their ids.
  func forEachPostings(from id: UInt32, _ read: (Postings) throws -> Bool) throws {
    for input in current {
      var wantsMore = true
      try inputs[input].cursor.forEachPostings(from: id) { postings in
        wantsMore = try read(postings)
        return wantsMore
      }
      if !wantsMore { return }
    }
  }

  /// Leaves the least term behind.
  mutating func advance() throws {
    for input in current where try inputs[input].cursor.next() { wait(input) }
    current.removeAll(keepingCapacity: true)
  }

  private mutating func wait(_ input: Int) {
    let term = inputs[input].cursor.term
    terms[input] = term
    // Equal terms come in the order of the segments.
    let place = waiting.partitioningIndex { other in
      terms[other] == term ? other < input : terms[other].lexicographicallyPrecedes(term)
    }
    waiting.insert(input, at: place)
  }
}
