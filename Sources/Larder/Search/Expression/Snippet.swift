/// A stretch of a text that shows what a search has found in it.
public struct Snippet: Sendable, Equatable {
  /// On one line: runs of white space are single spaces.
  public let text: String
  /// What was found, ascending, without overlaps, on boundaries of characters.
  public let highlights: [Range<String.Index>]
  /// Whether the text has something before it.
  public let isCutBefore: Bool
  /// Whether the text has something behind it.
  public let isCutBehind: Bool

  static let wordCount = 24

  /// The stretch of a text with the most different terms of a search; its beginning where it has none.
  ///
  /// - Parameter wordCount: How many words it has at most.
  init(
    of text: String, for expression: SearchExpression, by tokenizer: SearchTokenizer = .standard,
    wordCount: Int = wordCount
  ) {
    let bytes = Array(text.utf8)
    let hits = bytes.withUnsafeBytes { SearchHits(expression, by: tokenizer, in: $0) }
    let window = hits.bestWindow(of: wordCount, lead: wordCount / 4)
    let isWhole = (before: window.lowerBound == 0, behind: window.upperBound == hits.words.count)
    let shown = hits.bytes(of: window)
    let start = isWhole.before ? 0 : shown.lowerBound
    let end = isWhole.behind ? bytes.count : shown.upperBound
    var walk = CharacterWalk(text)
    let cut = text[walk.characters(of: start..<max(start, end))]
    var line = ""
    // Asking for the last character of a text may cost as much as that is long.
    var endsInSpace = true
    var ranges: [Range<Int>] = []
    var open: Int?
    var rest = hits.ranges(within: window)[...]
    var at = text.utf8.distance(from: text.startIndex, to: cut.startIndex)
    for character in cut {
      let count = character.utf8.count
      while let range = rest.first, range.upperBound <= at { rest = rest.dropFirst() }
      let isHit = rest.first.map { $0.lowerBound < at + count } ?? false
      if isHit, open == nil { open = line.utf8.count }
      if !isHit, let from = open {
        ranges.append(from..<line.utf8.count)
        open = nil
      }
      if !character.isWhitespace {
        line.append(character)
        endsInSpace = false
      } else if !endsInSpace {
        line.append(" ")
        endsInSpace = true
      }
      at += count
    }
    if let from = open { ranges.append(from..<line.utf8.count) }
    if endsInSpace, !line.isEmpty { line.unicodeScalars.removeLast() }
    self.text = line
    highlights = ranges.map { range in
      let utf8 = line.utf8
      return utf8.index(
        utf8.startIndex, offsetBy: min(range.lowerBound, utf8.count))..<utf8.index(
          utf8.startIndex, offsetBy: min(range.upperBound, utf8.count))
    }.filter { !$0.isEmpty }
    isCutBefore = !isWhole.before
    isCutBehind = !isWhole.behind
  }

  /// The text with marks around what was found, and an ellipsis where it is cut.
  ///
  /// - Parameter escape: Makes each piece of the text fit for where it is shown, such as HTML. The marks and
  ///   the ellipsis stay as they are.
  public func marked(
    from open: String, to close: String, escaping escape: (Substring) -> String = { String($0) }
  ) -> String {
    var result = isCutBefore ? "… " : ""
    var at = text.startIndex
    for range in highlights {
      result += escape(text[at..<range.lowerBound]) + open + escape(text[range]) + close
      at = range.upperBound
    }
    return result + escape(text[at...]) + (isCutBehind ? " …" : "")
  }
}

extension Snippet {
  /// What a search has found in a text, ascending, on boundaries of characters.
  static func highlights(
    in text: String, for expression: SearchExpression, by tokenizer: SearchTokenizer = .standard
  ) -> [Range<String.Index>] {
    let hits = Array(text.utf8).withUnsafeBytes { SearchHits(expression, by: tokenizer, in: $0) }
    var walk = CharacterWalk(text)
    var ranges: [Range<String.Index>] = []
    for range in hits.ranges(within: 0..<hits.words.count) {
      if range.isEmpty { continue }
      let found = walk.characters(of: range)
      if let last = ranges.last, last.upperBound >= found.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, found.upperBound)
      } else {
        ranges.append(found)
      }
    }
    return ranges
  }
}

/// Finds the whole characters that bytes of a text belong to, and goes along the text once for that. Asking whether
/// a place is between two characters costs as much as the character there is long, which may be the whole text.
private struct CharacterWalk {
  private let text: String
  /// The boundaries around the byte that was asked for last, and the bytes in front of them.
  private var low: (place: String.Index, byte: Int)
  private var high: (place: String.Index, byte: Int)

  init(_ text: String) {
    self.text = text
    low = (text.startIndex, 0)
    high = low
  }

  /// - Parameter bytes: Begin where those before have ended, or later.
  mutating func characters(of bytes: Range<Int>) -> Range<String.Index> {
    advance(to: bytes.lowerBound)
    let start = high.byte <= bytes.lowerBound ? high.place : low.place
    advance(to: bytes.upperBound)
    return start..<(low.byte >= bytes.upperBound ? low.place : high.place)
  }

  /// Goes on until the next boundary is behind a byte, or the text has ended.
  private mutating func advance(to byte: Int) {
    while high.byte <= byte, high.place < text.endIndex {
      low = high
      high.place = text.index(after: low.place)
      high.byte += text.utf8.distance(from: low.place, to: high.place)
    }
  }
}
