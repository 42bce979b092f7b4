/// A field of an index that no type declares, with the direction that its values are kept in.
///
/// A literal is the path in its text, ascending: `"city"`, `"geo.lat"`.
public struct DynamicIndexPart: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The field, or a path into embedded documents.
  public let path: FieldPath
  /// Whether the largest values come first.
  public let isDescending: Bool

  /// A part of an index by a field.
  public init(_ path: FieldPath, isDescending: Bool = false) {
    self.path = path
    self.isDescending = isDescending
  }

  /// A text that is no path is the name of one field.
  public init(stringLiteral text: String) { self.init(FieldPath(text) ?? FieldPath(field: text)) }

  /// From the smallest to the largest.
  public static func ascending(_ path: FieldPath) -> Self { Self(path) }

  /// From the largest to the smallest: for queries that sort by this field in reverse.
  public static func descending(_ path: FieldPath) -> Self { Self(path, isDescending: true) }
}

extension DynamicCollection {
  /// Declares an index without the collection's Swift type, for queries with and without it.
  ///
  /// ```swift
  /// try store.collection("contacts").createIndex(on: "city", "order")
  /// try store.collection("contacts").createIndex(on: "email", unique: true)
  /// ```
  /// It is kept by every writer from now on, until `dropIndex(_:)`. A small collection's is
  /// complete when this returns; a large one's is built in the background, and
  /// `buildIndexes()` waits for it. Without effect where the collection has the very
  /// same index; one of the same name that says something else is replaced, and built anew. A unique one
  /// is not replaced by one that is not unique: drop it first.
  ///
  /// A unique one over documents of which two have equal values refuses further documents with a value
  /// that is taken, but queries do not use it: ``indexes()`` says why, and `buildIndexes()`
  /// throws it. Change the documents, then call `rebuildIndexes()`.
  ///
  /// A field that a document lacks counts as nil here, for only a type knows of defaults: queries
  /// of a type that has a default for such a field go on without the index.
  ///
  /// - Parameters:
  ///   - parts: The fields, the one that is compared for equality most first. Arrays and sets have
  ///     one entry per element.
  ///   - name: What errors and statistics call it; the names of the fields if nil, unless another index has that
  ///     name, such as that of a field that is called `a.b`.
  ///   - unique: Whether two documents with equal values are refused. Values with a nil, or a number
  ///     that is NaN, among them are never equal; of equal elements of one array there may be several.
  ///   - condition: Which documents are in the index; all if nil. Only queries whose condition has
  ///     this one among its `&&` parts can use it.
  /// - Returns: The name that the index has, as ``indexes()`` says it.
  /// - Throws: ``StoreError/indexNotAllowed(collection:index:reason:)``, such as for a field that
  ///   does not exist, or where a unique index would be replaced; ``StoreError/noCollection(_:)``; other
  ///   ``StoreError``s. Nothing is changed then.
  @discardableResult
  public func createIndex(
    on parts: DynamicIndexPart..., name: String? = nil, unique: Bool = false,
    where condition: ((DynamicFields) -> DynamicFilter)? = nil
  ) throws -> String {
    try createIndex(
      on: parts, name: name, unique: unique, where: condition.map { $0(DynamicFields()) })
  }

  /// The same for fields and a condition that were read from somewhere.
  ///
  /// - Returns: As the other one.
  /// - Throws: As the other one.
  @discardableResult
  public func createIndex(
    on parts: [DynamicIndexPart], name indexName: String? = nil, unique: Bool = false,
    where filter: DynamicFilter? = nil
  ) throws -> String {
    try declareIndex(isNamed: indexName != nil) { lowering throws(StoreError) in
      try lowering.index(on: parts, name: indexName, unique: unique, where: filter)
    }
  }

  /// - Parameter isNamed: Whether the caller has given the name. One that is made of the fields' names takes the place
  ///   of no index over others: a field may be called `a.b`.
  /// - Returns: The name of the index.
  func declareIndex(
    isNamed: Bool,
    _ declaration: (DynamicLowering) throws(StoreError) -> IndexDeclaration
  ) throws -> String {
    try store.checkOpen()
    return try store.engine.storing {
      try store.engine.writer.run {
        guard let collection = store.engine.catalogue[name] else {
          throw StoreError.noCollection(name)
        }
        let index = try declaration(DynamicLowering(collection: collection))
        if !isNamed,
          collection.definitions.contains(where: {
            $0.name == index.name && !$0.isOver(index.parts)
          })
        {
          throw StoreError.indexNotAllowed(
            collection: name, index: index.name,
            reason: "an index over other fields has this name; give this one another by `name:`")
        }
        try store.engine.declare(Declaration(of: index, in: collection.description))
        return index.name
      }
    }
  }
}

extension IndexDefinition {
  /// Whether it has the same fields in the same order.
  fileprivate func isOver(_ declared: [IndexDeclaration.Part]) -> Bool {
    parts.map(\.path) == declared.map { $0.operand?.map(\.name) ?? [] }
      && parts.map(\.isDescending) == declared.map(\.isDescending)
  }
}

extension DynamicLowering {
  /// An index as a type would declare it.
  ///
  /// - Parameters:
  ///   - weights: Of a search index.
  ///   - tokenizer: Likewise.
  func index(
    on parts: [DynamicIndexPart], name: String?, unique: Bool, where filter: DynamicFilter?,
    weights: [UInt32]? = nil, tokenizer: SearchTokenizer = .standard
  ) throws(StoreError) -> IndexDeclaration {
    if case .tooDeep? = filter?.form { throw .queryTooDeep(limit: Filter<Void>.maximumDepth) }
    do throws(DynamicQueryError) {
      var fields: [IndexDeclaration.Part] = []
      for part in parts {
        fields.append(.init(operand: try steps(part.path), isDescending: part.isDescending))
      }
      var condition: FilterNode?
      if let filter { condition = try node(filter) }
      return IndexDeclaration(
        name: name, parts: fields, isUnique: unique, filter: condition, weights: weights,
        tokenizer: tokenizer)
    } catch {
      let fields = parts.map { ($0.isDescending ? "-" : "") + "\($0.path)" }
      let names = error.knownNames.joined(separator: ", ")
      throw .indexNotAllowed(
        collection: collection.name, index: name ?? fields.joined(separator: ","),
        reason: error.knownNames.isEmpty
          ? "at `\(error.path)`: found \(error.found), expected \(error.expected)"
          : "there is no field `\(error.path)`; there are \(names)")
    }
  }
}
