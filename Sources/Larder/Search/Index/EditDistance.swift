/// Counts edits between words: characters that are added, left out or changed, and neighbours that
/// have changed places (optimal string alignment).
struct EditDistance {
  private let word: [Unicode.Scalar]
  private let limit: Int

  /// Nil where the test is no resemblance.
  init?(_ test: WordTest) {
    guard case .resembles(let term, let edits, _) = test else { return nil }
    word = Array(String(decoding: term, as: UTF8.self).unicodeScalars)
    limit = edits
  }

  func isNear(_ term: [UInt8]) -> Bool {
    let other = Array(String(decoding: term, as: UTF8.self).unicodeScalars)
    if abs(other.count - word.count) > limit { return false }
    var before: [Int] = []
    var last = Array(0...other.count)
    for (row, scalar) in word.enumerated() {
      var current = [row + 1]
      for (column, candidate) in other.enumerated() {
        var cost = min(
          last[column + 1] + 1, current[column] + 1, last[column] + (scalar == candidate ? 0 : 1))
        if row > 0, column > 0, scalar == other[column - 1], word[row - 1] == candidate {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
      }
      if current.min() ?? 0 > limit { return false }
      (before, last) = (last, current)
    }
    return last[other.count] <= limit
  }
}
