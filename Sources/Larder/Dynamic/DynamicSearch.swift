/// A search in the texts of a collection without a type.
///
/// ```swift
/// let query = DynamicQuery.search("blue winter").limit(20)
/// let notes = try store.collection("notes").fetch(query)
/// ```
public struct DynamicSearch: Hashable, Sendable {
  /// As a person has typed it; ``SearchIndex/callAsFunction(_:prefix:allowingTypos:)`` says what it means.
  public var text: String
  /// Where it is searched: text, or arrays or sets of it. Where there is none, in the fields of the
  /// collection's search index; without such an index, in every text that the documents have themselves.
  public var fields: [FieldPath]
  /// Which words may be the beginning of one.
  public var prefix: SearchPrefix
  /// Whether words are also found where a letter or two are wrong.
  public var allowsTypos: Bool
  /// Takes texts apart; where it is nil, the tokenizer of the search index, else ``StandardTokenizer``. A search
  /// throws ``DynamicQueryError`` where the index has one that this process does not have. To search such a
  /// collection all the same, name the standard one: every document is then read, and other documents may be
  /// found than by a process that has the tokenizer.
  public var tokenizer: (any Tokenizer)? {
    get { givenTokenizer?.tokenizer }
    set { givenTokenizer = newValue.map(SearchTokenizer.init) }
  }
  fileprivate var givenTokenizer: SearchTokenizer?

  /// A search in some fields.
  public init(
    _ text: String, in fields: [FieldPath] = [], prefix: SearchPrefix = .marked,
    allowingTypos: Bool = false, tokenizer: (any Tokenizer)? = nil
  ) {
    self.text = text
    self.fields = fields
    self.prefix = prefix
    allowsTypos = allowingTypos
    givenTokenizer = tokenizer.map(SearchTokenizer.init)
  }

  fileprivate func expression(by tokenizer: SearchTokenizer) -> SearchExpression {
    SearchExpression(
      text, by: tokenizer, isBeingTyped: prefix == .last, allowsTypos: allowsTypos)
  }
}

extension DynamicQuery {
  /// The documents that a text is found in, the best first: as ``DynamicSearch`` says.
  public static func search(
    _ text: String, in fields: [FieldPath] = [], prefix: SearchPrefix = .marked,
    allowingTypos: Bool = false, tokenizer: (any Tokenizer)? = nil
  ) -> Self {
    var query = Self()
    query.search = DynamicSearch(
      text, in: fields, prefix: prefix, allowingTypos: allowingTypos, tokenizer: tokenizer)
    return query
  }

  /// The stretch of a text that shows best what this query's search has found in it, as
  /// ``Query/snippet(of:wordCount:)``. The query knows of no index: it takes the text apart by the tokenizer that the
  /// search names, else by the standard one.
  public func snippet(of text: String, wordCount: Int = 24) -> Snippet {
    let tokenizer = search?.givenTokenizer ?? .standard
    let expression = search?.expression(by: tokenizer) ?? SearchExpression(wanted: [], excluded: [])
    return Snippet(of: text, for: expression, by: tokenizer, wordCount: max(1, wordCount))
  }
}

extension DynamicCollection {
  /// Where a query searches; none where it does not.
  ///
  /// - Throws: ``DynamicQueryError``; ``StoreError``.
  package func searchedFields(_ query: DynamicQuery) throws -> [FieldPath] {
    try store.read { snapshot in
      guard let search = query.search, let collection = snapshot.catalogue[name] else { return [] }
      return try DynamicLowering(collection: collection).condition(search).fields
        .compactMap { field in
          if case .field(let path) = field { FieldPath(names: path.map(\.name)) } else { nil }
        }
    }
  }
}

// MARK: Lowering

extension DynamicLowering {
  /// - Throws: ``DynamicQueryError`` for a field that there is not, or that is no text.
  func condition(_ search: DynamicSearch) throws(DynamicQueryError) -> SearchCondition {
    let names = search.fields.map(\.names)
    let index = collection.indexes.first { index in
      index.isOfWords && index.isMaintained
        && (names.isEmpty || index.definition.parts.map(\.path) == names)
    }
    let tokenizer = try self.tokenizer(search, index)
    var fields: [[FieldStep]] = []
    if let index {
      for part in index.definition.parts { fields.append(try steps(of: part)) }
    } else if names.isEmpty {
      for field in collection.tables[collection.documentTable].fields {
        let (steps, kind) = try self.field(FieldPath(field: field.name))
        if kind.isSearchable { fields.append(steps) }
      }
    } else {
      for path in search.fields {
        let (steps, kind) = try self.field(path)
        guard kind.isSearchable else {
          throw refusal(
            path, .name(path.names.count - 1), found: "a field of kind \(kind)",
            expected: "text, or an array or a set of texts")
        }
        fields.append(steps)
      }
    }
    return SearchCondition(
      fields: fields.map(Operand.field),
      weights: index?.definition.weights ?? Array(repeating: 1, count: fields.count),
      expression: search.expression(by: tokenizer), tokenizer: tokenizer)
  }

  /// - Throws: ``DynamicQueryError`` where the index has one that this process does not have.
  private func tokenizer(
    _ search: DynamicSearch, _ index: CollectionIndex?
  ) throws(DynamicQueryError) -> SearchTokenizer {
    if let given = search.givenTokenizer { return given }
    guard let index else { return .standard }
    if let known = collection.tokenizers[index.definition.tokenizer] { return known }
    let path = search.fields.first ?? FieldPath(names: index.definition.parts[0].path)
    throw DynamicQueryError(
      collection: collection.name, path: path ?? FieldPath(field: index.name), part: .tokenizer,
      found: "a search index with the tokenizer \(index.definition.tokenizer ?? ""), which this "
        + "process does not have",
      expected:
        "its type to be used here, the tokenizer in the store's options, or a search by the "
        + "standard one", knownNames: [])
  }

  /// The way down to a field of an index; where documents lack it, they have the text that the index has
  /// instead.
  private func steps(
    of part: IndexDefinition.Part
  ) throws(DynamicQueryError) -> [FieldStep] {
    guard let path = FieldPath(names: part.path) else { return [] }
    let steps = try steps(path)
    return zip(steps, part.outerAbsent + [part.absent]).map { step, absent in
      FieldStep(
        name: step.name, kind: step.kind,
        absent: absent.isEmpty ? .null : .string(String(decoding: absent, as: UTF8.self)))
    }
  }
}

extension Kind {
  /// Whether its words can be searched.
  fileprivate var isSearchable: Bool {
    switch self {
    case .string, .array(.string), .set(.string): true
    default: false
    }
  }
}

// MARK: Indexes

/// A field of a search index that no type declares. A literal is the path in its text: `"title"`.
public struct DynamicSearchField: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The field, or a path into embedded documents.
  public let path: FieldPath
  /// How much a word counts in this field, 1 to 100.
  public let weight: Int

  /// A part of a search index by a field.
  public init(_ path: FieldPath, weight: Int = 1) {
    self.path = path
    self.weight = weight
  }

  /// A text that is no path is the name of one field.
  public init(stringLiteral text: String) { self = .field(text) }

  /// A field by its path in text, and how much a word counts there.
  public static func field(_ text: String, weight: Int = 1) -> Self {
    Self(FieldPath(text) ?? FieldPath(field: text), weight: weight)
  }
}

extension DynamicCollection {
  /// Declares a search index without the collection's Swift type, for queries with and without it.
  ///
  /// ```swift
  /// try store.collection("notes").createSearchIndex(on: [.field("title", weight: 3), "body"])
  /// ```
  /// It is kept and built as the indexes are that `createIndex` makes. A process that opens the store again and is
  /// to keep an index with a tokenizer has it in ``StoreOptions/tokenizers``.
  ///
  /// - Parameters:
  ///   - fields: Texts, or arrays or sets of them.
  ///   - name: What errors and statistics call it. One of the same name that says something else is replaced,
  ///     and built anew.
  ///   - tokenizer: Takes texts apart into words.
  /// - Returns: The name that the index has, as ``DynamicCollection/indexes()`` says it.
  /// - Throws: As `createIndex`. Nothing is changed then.
  @discardableResult
  public func createSearchIndex(
    on fields: [DynamicSearchField], name: String = "search",
    tokenizer: any Tokenizer = StandardTokenizer()
  ) throws -> String {
    let parts = fields.map { DynamicIndexPart($0.path) }
    return try declareIndex(isNamed: true) { lowering throws(StoreError) in
      try lowering.index(
        on: parts, name: name, unique: false, where: nil,
        weights: fields.map { UInt32(clamping: $0.weight) },
        tokenizer: SearchTokenizer(tokenizer))
    }
  }
}
