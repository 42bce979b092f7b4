import Foundation

/// Paragraphs of real prose, and searches that they answer.
struct SearchTexts {
  /// A paragraph, under the last headword in front of it.
  struct Text {
    var title: String
    var body: String
  }

  let texts: [Text]
  let searches: [Search]

  struct Search {
    let operation: SearchOperation
    /// Means the same to Larder and to FTS5, but for the end of a prefix.
    let text: String
  }

  static let shortestByteCount = 50
  private static let searchesEach = 12

  /// Cuts a dictionary in the form of dictd into `count` paragraphs and chooses what is searched for.
  ///
  /// - Throws: ``UsageError`` where the file has fewer paragraphs.
  init(count: Int, from file: URL) throws {
    // A paragraph takes about 190 bytes of the file.
    let bytes = try Data(contentsOf: file).prefix(250 * count)
    let found = Self.paragraphs(of: String(decoding: bytes, as: UTF8.self))
    guard found.count >= count else {
      throw UsageError("\(file.path) has \(found.count) paragraphs, and not \(count)")
    }
    texts = Array(found.prefix(count))
    searches = Self.searches(in: texts)
  }

  private static func paragraphs(of text: String) -> [Text] {
    var result: [Text] = []
    var (title, body) = ("", "")
    func finish() {
      if body.utf8.count >= shortestByteCount {
        result.append(Text(title: title, body: body))
        body = ""
      }
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first else {
        finish()
        continue
      }
      // Where an entry comes from stands below each paragraph, in a line of its own.
      if first.hasPrefix("["), line.hasSuffix("]") { continue }
      if line.first?.isLetter == true, let end = line.firstIndex(of: "\\") {
        title = line[..<end].trimmingCharacters(in: .whitespaces)
      }
      if !body.isEmpty { body += " " }
      body += words.joined(separator: " ")
    }
    finish()
    return result
  }

  // MARK: What is searched for

  private static func searches(in texts: [Text]) -> [Search] {
    let counted = counts(in: texts)
    func words(_ range: ClosedRange<Int>) -> [String] {
      counted.filter { $0.key.utf8.count >= 3 && range.contains($0.value) }
        .sorted { ($0.value, $0.key) > ($1.value, $1.key) }.map(\.key)
    }
    let frequent = words(texts.count / 20...texts.count)
    let usual = words(texts.count / 200...texts.count / 20)
    let rare = words(2...5)
    var result: [Search] = []
    func add(_ operation: SearchOperation, _ found: [String]) {
      result += found.map { Search(operation: operation, text: $0) }
    }
    let both = evenly(frequent + usual)
    add(.frequentWord, evenly(frequent))
    add(.usualWord, evenly(usual))
    add(.rareWord, evenly(rare))
    add(.prefix, both.map { "\($0.prefix(3))*" })
    add(.twoWords, zip(evenly(frequent), evenly(usual)).map { "\($0) \($1)" })
    add(.twoFrequentWords, zip(evenly(frequent), evenly(frequent).reversed()).map { "\($0) \($1)" })
    add(.phrase, phrases(in: texts))
    return result
  }

  /// Up to so many of them, at equal distances.
  private static func evenly<Element>(_ all: [Element]) -> [Element] {
    let count = min(searchesEach, all.count)
    return (0..<count).map { all[$0 * all.count / count] }
  }

  /// In how many texts each word is, of the letters of ASCII.
  private static func counts(in texts: [Text]) -> [String: Int] {
    var last: [String: (text: Int, count: Int)] = [:]
    for (number, text) in texts.enumerated() {
      for word in words(of: text.title) + words(of: text.body) {
        var entry = last[word] ?? (-1, 0)
        if entry.text != number { entry = (number, entry.count + 1) }
        last[word] = entry
      }
    }
    return last.mapValues(\.count)
  }

  private static func words(of text: String) -> [String] {
    text.lowercased().split { !("a"..."z").contains($0) }.map(String.init)
  }

  /// Words that stand behind one another in some text: frequent ones come up more often.
  private static func phrases(in texts: [Text]) -> [String] {
    evenly(texts).compactMap { text in
      let words = text.body.split(separator: " ").map { $0.lowercased() }
      let pair = words.indices.dropLast().first { place in
        words[place...place + 1].allSatisfy { word in
          word.utf8.count >= 3 && word.allSatisfy { ("a"..."z").contains($0) }
        }
      }
      return pair.map { "\"\(words[$0]) \(words[$0 + 1])\"" }
    }
  }
}
