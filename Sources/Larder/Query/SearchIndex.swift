/// A document type whose documents are found by the words of their texts.
///
/// ``Searchable(weight:)`` in front of a property of a ``Document(as:)`` writes the conformance. By hand it is:
///
/// ```swift
/// extension Note: Searchable {
///   static let search = SearchIndex<Note>(.field(\.title, weight: 3), .field(\.body))
/// }
/// ```
/// The index is kept by every save, in its transaction. On a collection that has documents already it is
/// built in the background; until it is complete searches read every document, and find the same.
public protocol Searchable: Document {
  /// The fields that are searched: `Note.search("winter")` is a query. A `static let`.
  static var search: SearchIndex<Self> { get }
}

/// The fields of a document type that are searched, and how much each of them counts.
public struct SearchIndex<Entity: Document>: Sendable {
  let declaration: IndexDeclaration
  /// Each field that it looks at, and how much a word counts there.
  let searched: [(operand: Operand, weight: UInt32)]
  /// Takes texts apart.
  let tokenizer: SearchTokenizer

  /// A search index over some fields.
  ///
  /// - Parameters:
  ///   - name: What errors and statistics call it. Its fields, weights and tokenizer may change under a name: it is
  ///     then built anew.
  ///   - tokenizer: Takes texts apart into words.
  ///   - fileID: Where errors say that the index is declared.
  ///   - line: The line there.
  public init(
    _ first: SearchField<Entity>, _ others: SearchField<Entity>..., name: String = "search",
    tokenizer: any Tokenizer = StandardTokenizer(), fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init([first] + others, name, SearchTokenizer(tokenizer), "\(fileID):\(line)")
  }

  /// A search index over the fields that the schema marks as searchable: what `@Searchable` writes. A type says so
  /// itself to give it a tokenizer:
  ///
  /// ```swift
  /// @Document
  /// struct Note: Identifiable {
  ///   var id: UUID
  ///   @Searchable(weight: 3) var title: String
  ///   @Searchable var body = ""
  ///
  ///   static let search = SearchIndex<Note>(tokenizer: PluralStems())
  /// }
  /// ```
  ///
  /// - Parameters: As those of the other one.
  public init(
    name: String = "search", tokenizer: any Tokenizer = StandardTokenizer(),
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      Entity.schema.searched(within: []).map { part, weight in
        SearchField(part: part, operand: part.operand.map(Operand.field), weight: weight)
      },
      name, SearchTokenizer(tokenizer), "\(fileID):\(line)")
  }

  private init(
    _ fields: [SearchField<Entity>], _ name: String, _ tokenizer: SearchTokenizer, _ place: String
  ) {
    self.tokenizer = tokenizer
    searched = fields.compactMap { field in
      // An index with another weight is refused; without one, none may keep a word from being found.
      field.operand.map { ($0, UInt32(min(max(field.weight, 1), 100))) }
    }
    declaration = IndexDeclaration(
      name: name, parts: fields.map(\.part), isUnique: false, filter: nil, place: place,
      weights: fields.map { UInt32(clamping: $0.weight) }, tokenizer: tokenizer)
  }

  /// The documents in whose fields a text is found: `Note.search("blue winter")`. The best come first, unless
  /// the query is told to sort by something else.
  ///
  /// | text | finds documents with |
  /// |---|---|
  /// | `blue winter` | both words, anywhere |
  /// | `"blue winter"` | the words behind one another |
  /// | `london OR paris` | one of them; binds tighter than a space |
  /// | `-snow` | everything else, but not this |
  /// | `win*` | words that begin so |
  ///
  /// Case, accents and forms of the same character make no difference. An empty text finds every document, so
  /// that a list is whole before anybody searches in it; so does one without a word. A text of which only
  /// words are excluded finds all other documents. Neither has a rank: its order is that of the keys. Of a
  /// text with more than 64 terms the rest is ignored.
  ///
  /// Documents are ranked by BM25: words that are rare in the collection count more, and so do short
  /// documents and fields with a weight.
  ///
  /// - Parameters:
  ///   - text: As a person has typed it. No text is an error.
  ///   - prefix: Which words may be the beginning of one.
  ///   - allowingTypos: Whether a word is also found where it has one letter more, less or other, or two where
  ///     it has 9 letters. It must have 5 letters, and its first must be right.
  public func callAsFunction(
    _ text: String, prefix: SearchPrefix = .marked, allowingTypos: Bool = false
  ) -> Query<Entity> {
    Query().search(text, in: self, prefix: prefix, allowingTypos: allowingTypos)
  }
}

/// Which words of a search may be only the beginning of a word.
public enum SearchPrefix: Sendable, Hashable {
  /// Those with a `*` behind them.
  case marked
  /// These, and the last word while it is being typed: as long as nothing stands behind it, not even a
  /// space.
  case last
}

/// A field that is searched.
public struct SearchField<Entity: Document>: Sendable {
  let part: IndexDeclaration.Part
  /// Nil where a default hides what is stored; then there is no such index either.
  let operand: Operand?
  let weight: Int

  /// A text, or an array or a set of texts; also one in an embedded document: `\.address.street`.
  ///
  /// - Parameter weight: How much a word counts here, 1 to 100. A word in a title of weight 3 counts like three
  ///   words in a field of weight 1.
  public static func field<Value: SearchableText>(
    _ path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>, weight: Int = 1
  ) -> Self {
    let field = Fields<Entity>()[keyPath: path]
    return Self(
      part: .init(field, isDescending: false),
      operand: field.operand { .array($0.searchedTexts.map { .string($0) }) }, weight: weight)
  }
}

/// A value whose words can be searched: a text, or an array or a set of texts, or nil.
public protocol SearchableText: Sendable {
  /// The texts whose words are searched, where no stored text is read.
  var searchedTexts: [String] { get }
}

extension String: SearchableText {
  public var searchedTexts: [String] { [self] }
}

extension Array: SearchableText where Element == String {
  public var searchedTexts: [String] { self }
}

extension Set: SearchableText where Element == String {
  public var searchedTexts: [String] { sorted() }
}

extension Optional: SearchableText where Wrapped: SearchableText {
  public var searchedTexts: [String] { self?.searchedTexts ?? [] }
}

// MARK: In a schema

extension Field {
  /// This field with its words in the search index: what `@Searchable` writes.
  ///
  /// - Parameters:
  ///   - path: The property of the field.
  ///   - weight: How much a word counts here, 1 to 100.
  public func searchable<Value: SearchableText>(
    _ path: KeyPath<Owner, Value>, weight: Int = 1
  ) -> Self {
    marked(weight)
  }

  /// This field with the searchable fields of its embedded document in the search index.
  ///
  /// - Parameters:
  ///   - path: The property of the field.
  ///   - weight: What the weights of the embedded fields are multiplied by.
  public func searchable<Value: EmbeddedDocument>(
    _ path: KeyPath<Owner, Value>, weight: Int = 1
  ) -> Self {
    marked(weight)
  }

  /// The same where there may be no embedded document.
  public func searchable<Value: EmbeddedDocument>(
    _ path: KeyPath<Owner, Value?>, weight: Int = 1
  ) -> Self {
    marked(weight)
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      only text can be searched for words: `String`, `[String]`, `Set<String>`, optionals of them, embedded \
      documents, and types of your own that are `SearchableText`
      """
  )
  public func searchable<Value>(_ path: KeyPath<Owner, Value>, weight: Int = 1) -> Self {
    fatalError("unavailable")
  }

  private func marked(_ weight: Int) -> Self {
    var field = self
    field.searchWeight = weight
    return field
  }
}

extension AnySchema {
  /// The parts of a search index over what is marked, those of embedded documents too.
  ///
  /// - Parameter outer: The types that this one is embedded in: none of them is gone into again.
  fileprivate func searched(
    within outer: [ObjectIdentifier]
  ) -> [(part: IndexDeclaration.Part, weight: Int)] {
    searchedFields.flatMap { field, weight -> [(part: IndexDeclaration.Part, weight: Int)] in
      let step = FieldStep(field)
      guard case .document(let inner) = field.kind.unwrapped else {
        return [(.init(operand: [step], isDescending: false), weight)]
      }
      if outer.contains(inner.type) { return [] }
      return inner.schema.searched(within: outer + [inner.type]).map { part, innerWeight in
        let path = part.operand.flatMap { [step].appending($0) }
        let (product, isTooMuch) = weight.multipliedReportingOverflow(by: innerWeight)
        return (
          .init(operand: path, named: "\(step.name).\(part.property)"), isTooMuch ? .max : product
        )
      }
    }
  }
}
