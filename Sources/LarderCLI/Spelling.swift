/// Guesses what a person meant.
enum Spelling {
  /// A question that names the candidate nearest to `word`; empty where none is near.
  static func suggestion(_ word: String, among candidates: [String]) -> String {
    let nearest = candidates.map { (name: $0, distance: distance(word, $0)) }
      .min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= max(2, word.count / 3) else { return "" }
    return "; did you mean \(nearest.name.inQuotes)?"
  }

  /// How many characters have to be put in, taken out, replaced or swapped with their neighbour to
  /// make one word of the other (the restricted Damerau-Levenshtein distance).
  static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(64))
    let right = Array(right.prefix(64))
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let change = last[column] + (left[row] == right[column] ? 0 : 1)
        var best = min(change, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}

extension String {
  /// This text between backquotes, fit to be shown by a terminal: what would steer it is shown by its number.
  var inQuotes: String {
    var shown = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      // Joiners shape the letters and the emoji beside them, and steer nothing.
      case .format where scalar == "\u{200C}" || scalar == "\u{200D}":
        shown.unicodeScalars.append(scalar)
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return "`" + shown + "`"
  }
}
