extension Query where Entity: Searchable {
  /// The documents of this query in whose texts `text` is found, the best first unless the query is sorted
  /// already: `Note.where { !$0.isArchived }.search("winter")`.
  ///
  /// - Parameters: As those of ``SearchIndex/callAsFunction(_:prefix:allowingTypos:)``, which says what a text
  ///   means.
  public func search(
    _ text: String, prefix: SearchPrefix = .marked, allowingTypos: Bool = false
  ) -> Self {
    search(text, in: Entity.search, prefix: prefix, allowingTypos: allowingTypos)
  }
}

extension Query {
  /// The documents of this query in whose texts `text` is found, for fields that the type does not declare.
  /// Where no search index has just these fields and weights, every document is read; so it is for a plain
  /// `Codable` type and for properties that are not stored, and where the search index has another tokenizer.
  public func search(
    _ text: String, in index: SearchIndex<Entity>, prefix: SearchPrefix = .marked,
    allowingTypos: Bool = false
  ) -> Self {
    searching(
      SearchCondition(
        fields: index.searched.map(\.operand), weights: index.searched.map(\.weight),
        expression: SearchExpression(
          text, by: index.tokenizer, isBeingTyped: prefix == .last, allowsTypos: allowingTypos),
        tokenizer: index.tokenizer))
  }

  /// Sorted by how well documents match the search, behind what the query is sorted by already. For a query
  /// that has an order of its own; without a search it changes nothing. Of several searches the first one ranks that
  /// does more than leave something out.
  ///
  /// ```swift
  /// Note.search("winter").sorted(by: \.isPinned, .reverse).sortedByRank()
  /// ```
  public func sortedByRank() -> Self {
    var query = self
    guard !selection.hasDefaultOrder, let search = selection.filter.rankedSearches.first else {
      return self
    }
    query.selection.order.append(.rank(search))
    return query
  }

  /// The documents of this query that a search finds.
  func searching(_ condition: SearchCondition) -> Self {
    var query = self
    query.selection.search(condition)
    return query
  }
}

extension Selection {
  /// Narrows it to what a search finds.
  mutating func search(_ condition: SearchCondition) {
    let expression = condition.expression
    if expression.wanted.isEmpty, expression.excluded.isEmpty { return }
    filter = .all([filter, .search(condition)])
    if order.isEmpty, !expression.wanted.isEmpty {
      order = [.rank(condition)]
      hasDefaultOrder = true
    }
  }
}

extension FilterNode {
  /// The searches that all documents must match, without those that only leave something out: by these nothing is
  /// ranked, and there is nothing to show.
  fileprivate var rankedSearches: [SearchCondition] {
    switch self {
    case .search(let condition): condition.expression.wanted.isEmpty ? [] : [condition]
    case .conjunction(let parts): parts.flatMap(\.rankedSearches)
    default: []
    }
  }
}

// MARK: Showing what was found

extension Query {
  /// The stretch of a text that shows best what this query's search has found in it; its beginning where the
  /// search has found nothing there.
  ///
  /// ```swift
  /// let query = Note.search(typed, prefix: .last)
  /// for note in try notes.fetch(query.limit(20)) {
  ///   let snippet = query.snippet(of: note.body)
  ///   print(snippet.marked(from: "[", to: "]"))
  /// }
  /// ```
  /// - Parameter wordCount: How many words it has at most.
  public func snippet(of text: String, wordCount: Int = 24) -> Snippet {
    let (expression, tokenizer) = shown
    return Snippet(of: text, for: expression, by: tokenizer, wordCount: max(1, wordCount))
  }

  /// What this query's search has found in a text, such as a title that is shown whole: ascending, without
  /// overlaps, on boundaries of characters.
  public func highlights(in text: String) -> [Range<String.Index>] {
    let (expression, tokenizer) = shown
    return Snippet.highlights(in: text, for: expression, by: tokenizer)
  }

  /// What is shown of the searches: of several, those by the tokenizer of the first.
  private var shown: (SearchExpression, SearchTokenizer) {
    let searches = selection.filter.rankedSearches
    let tokenizer = searches.first?.tokenizer ?? .standard
    let wanted = searches.filter { $0.tokenizer == tokenizer }.flatMap(\.expression.wanted)
    return (SearchExpression(wanted: wanted, excluded: []), tokenizer)
  }
}
