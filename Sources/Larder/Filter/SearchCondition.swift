internal import LarderLMDB

/// A search in the texts of a document, as a condition. Shared by the filter, the order and the plan of a query.
final class SearchCondition: Sendable {
  /// Text, or arrays or sets of it; or what is computed from the document.
  let fields: [Operand]
  /// Of each of the fields; they matter to the order of what is found, not to what is found.
  let weights: [UInt32]
  let expression: SearchExpression
  /// Takes the texts apart, as it has what is searched for.
  let tokenizer: SearchTokenizer

  init(
    fields: [Operand], weights: [UInt32], expression: SearchExpression,
    tokenizer: SearchTokenizer = .standard
  ) {
    self.fields = fields
    self.weights = weights
    self.expression = expression
    self.tokenizer = tokenizer
  }
}

extension SearchCondition: Equatable {
  static func == (left: SearchCondition, right: SearchCondition) -> Bool {
    left === right
      || left.fields == right.fields && left.weights == right.weights
        && left.expression == right.expression && left.tokenizer == right.tokenizer
  }
}

extension SearchCondition: CustomStringConvertible {
  var description: String {
    let names = fields.map { "\($0)" }
    let words = tokenizer.identifier.map { " by \($0)" } ?? ""
    return "search of \(names.joined(separator: ", ")) for \(expression)\(words)"
  }
}

/// A search made ready for one collection. It reads the texts of each document that it is asked about;
/// finding their words takes 4 to 6 ns for each byte.
final class SearchTest: Sendable {
  private let condition: SearchCondition
  private let places: [Place]
  /// Tools that no thread uses at the moment.
  private let idle = Locked<[Tool]>([])

  private final class Tool {
    var words: Words
    var matcher: SearchMatcher

    init(_ condition: SearchCondition) {
      words = Words(condition.tokenizer)
      matcher = SearchMatcher(condition.expression, weights: condition.weights)
    }
  }

  /// - Parameter fields: Those of the documents.
  init(_ condition: SearchCondition, in fields: FieldTable?) {
    self.condition = condition
    places = condition.fields.map { Place($0, in: fields) }
  }

  /// Whether the document has what the search asks for.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func holds(
    for subject: borrowing some FilterSubject & ~Copyable
  ) throws(RecordError) -> Bool {
    let tool = borrow()
    defer { giveBack(tool) }
    return try read(subject, tool)
  }

  /// How well the document matches; 0 where it has nothing of the search.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func score(
    of subject: borrowing some FilterSubject & ~Copyable, _ statistics: SearchStatistics
  ) throws(RecordError) -> Double {
    let tool = borrow()
    defer { giveBack(tool) }
    _ = try read(subject, tool)
    return tool.matcher.score(statistics)
  }

  /// The same where the document has what the search asks for, and nil where it has not.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func score(
    ofMatch subject: borrowing some FilterSubject & ~Copyable, _ statistics: SearchStatistics
  ) throws(RecordError) -> Double? {
    let tool = borrow()
    defer { giveBack(tool) }
    return try read(subject, tool) ? tool.matcher.score(statistics) : nil
  }

  /// Counts a document; one that cannot be read counts by what was read of it.
  func count(
    _ subject: borrowing some FilterSubject & ~Copyable, in counter: inout SearchStatistics.Counter
  ) {
    let tool = borrow()
    defer { giveBack(tool) }
    do throws(RecordError) {
      _ = try read(subject, tool)
    } catch {
      _ = tool.matcher.finish()
    }
    counter.add(tool.matcher)
  }

  private func borrow() -> Tool { idle.withLock { $0.popLast() } ?? Tool(condition) }

  private func giveBack(_ tool: Tool) { idle.withLock { $0.append(tool) } }

  /// - Returns: Whether the document matches.
  private func read(
    _ subject: borrowing some FilterSubject & ~Copyable, _ tool: Tool
  ) throws(RecordError) -> Bool {
    // Taken out once, and not looked up for each word.
    try read(subject, &tool.words, &tool.matcher)
    return tool.matcher.finish()
  }

  private func read(
    _ subject: borrowing some FilterSubject & ~Copyable, _ words: inout Words,
    _ matcher: inout SearchMatcher
  ) throws(RecordError) {
    matcher.begin()
    for (field, place) in places.enumerated() {
      var position: UInt32 = 0
      guard case .field(let path) = place.operand else {
        Self.read(try place.value(in: subject), field, &position, &words, &matcher)
        continue
      }
      try place.reach(path, in: subject) { (destination) throws(RecordError) in
        switch destination {
        case .absent(let value): Self.read(value, field, &position, &words, &matcher)
        case .value(var reader):
          if reader.nextIsNil { return }
          let count = reader.nextIsString ? 1 : try reader.arrayCount()
          for _ in 0..<count {
            Self.read(try reader.stringBytes(), field, &position, &words, &matcher)
          }
        }
      }
    }
  }

  private static func read(
    _ text: UnsafeRawBufferPointer, _ field: Int, _ position: inout UInt32,
    _ words: inout Words, _ matcher: inout SearchMatcher
  ) {
    words.forEach(in: text, from: &position) { word, position in
      matcher.add(word, field: field, position: position)
    }
  }

  private static func read(
    _ value: Value, _ field: Int, _ position: inout UInt32, _ words: inout Words,
    _ matcher: inout SearchMatcher
  ) {
    for text in value.texts {
      Array(text.utf8).withUnsafeBytes { read($0, field, &position, &words, &matcher) }
    }
  }
}

extension SearchMatcher {
  /// How well the document that was ended matches.
  fileprivate func score(_ statistics: SearchStatistics) -> Double {
    var score = 0.0
    for (term, frequency) in frequencies.enumerated() where frequency > 0 {
      score += SearchScore(statistics, term: term).part(frequency: frequency, length: length)
    }
    return score
  }
}

extension Value {
  /// A text, or the texts of an array.
  fileprivate var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let values): values.flatMap(\.texts)
    default: []
    }
  }
}
