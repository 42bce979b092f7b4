/// An index of a document type: what finds documents by other fields than their key, and in
/// another order.
///
/// ```swift
/// static let indexes: [Index<Contact>] = [
///   Index(\.city, \.order),
///   Index(.ascending(\.city), .descending(\.updatedAt)),
///   Index(\.email, unique: true),
///   Index(\.order, where: { $0.city == "Oslo" }),
///   Index(\.geo.lat),
/// ]
/// ```
/// A field that is an array or a set has one entry per element. An index costs a write per
/// document whose indexed values change, and its space; queries choose by themselves which to
/// use, and mean the same without any.
///
/// The index holds the default of a field for documents that were stored without it. Where that is another
/// value in each process, as `Date()` and `UUID()` are, queries do not use the index while there are such
/// documents.
public struct Index<Entity: Document>: Sendable {
  let definition: IndexDeclaration

  /// An index over fields, ascending.
  ///
  /// - Parameters:
  ///   - paths: The fields, the one that is compared for equality most first.
  ///   - name: What errors and statistics call it; the names of the fields if nil. Its definition
  ///     may change under a name: the index is then built anew.
  ///   - unique: Whether two documents with equal values are refused. Values with a nil, or a number
  ///     that is NaN, among them are never equal; of equal elements of one array there may be several.
  ///   - condition: Which documents are in the index; all if nil. Only queries whose condition
  ///     has this one among its `&&` parts can use it.
  ///   - fileID: Where errors say that the index is declared.
  ///   - line: The line there.
  public init<each Value>(
    _ paths: repeat KeyPath<Fields<Entity>, QueryField<Entity, each Value>>,
    name: String? = nil, unique: Bool = false,
    where condition: ((Fields<Entity>) -> Filter<Entity>)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    var parts: [IndexPart<Entity>] = []
    for path in repeat each paths { parts.append(.ascending(path)) }
    self.init(parts, name: name, unique: unique, where: condition, fileID, line)
  }

  /// An index over fields, each in its direction.
  public init(
    _ parts: IndexPart<Entity>..., name: String? = nil, unique: Bool = false,
    where condition: ((Fields<Entity>) -> Filter<Entity>)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(parts, name: name, unique: unique, where: condition, fileID, line)
  }

  /// An index of the documents whose field is true.
  public init<each Value>(
    _ paths: repeat KeyPath<Fields<Entity>, QueryField<Entity, each Value>>,
    name: String? = nil, unique: Bool = false,
    where condition: (Fields<Entity>) -> QueryField<Entity, Bool>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    var parts: [IndexPart<Entity>] = []
    for path in repeat each paths { parts.append(.ascending(path)) }
    let filter = condition(Fields()) == true
    self.init(parts, name: name, unique: unique, where: { _ in filter }, fileID, line)
  }

  /// An index of the documents whose field is true.
  public init(
    _ parts: IndexPart<Entity>..., name: String? = nil, unique: Bool = false,
    where condition: (Fields<Entity>) -> QueryField<Entity, Bool>,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    let filter = condition(Fields()) == true
    self.init(parts, name: name, unique: unique, where: { _ in filter }, fileID, line)
  }

  private init(
    _ parts: [IndexPart<Entity>], name: String?, unique: Bool,
    where condition: ((Fields<Entity>) -> Filter<Entity>)?, _ fileID: StaticString, _ line: UInt
  ) {
    definition = IndexDeclaration(
      name: name, parts: parts.map(\.part), isUnique: unique,
      filter: condition.map { $0(Fields()).node }, place: "\(fileID):\(line)")
  }
}

/// A field of an index, with the direction that its values are kept in.
public struct IndexPart<Entity: Document>: Sendable {
  let part: IndexDeclaration.Part

  /// From the smallest to the largest, as `Query.sorted(by:_:)`
  /// sorts.
  public static func ascending<Value>(
    _ path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self {
    Self(part: .init(Fields()[keyPath: path], isDescending: false))
  }

  /// From the largest to the smallest: for queries that sort by this field in reverse.
  public static func descending<Value>(
    _ path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self {
    Self(part: .init(Fields()[keyPath: path], isDescending: true))
  }
}

extension Field {
  /// This field with an index of its own: what `@Indexed` writes.
  ///
  /// - Parameters:
  ///   - unique: Whether two documents with equal values are refused; nil and NaN equal nothing.
  ///   - descending: Whether the largest comes first.
  public func indexed(unique: Bool = false, descending: Bool = false) -> Self {
    var field = self
    field.index = FieldIndex(isUnique: unique, isDescending: descending)
    return field
  }
}

/// An index as a type declares it.
struct IndexDeclaration: Sendable {
  struct Part: Sendable {
    /// The way down to the field; nil for a property that is not stored.
    let operand: [FieldStep]?
    let isDescending: Bool
    /// The name of the property within the index's name, whether it is stored or not.
    let property: String
    /// The name, for error messages, of a property that is not stored.
    let subject: String

    init(operand: [FieldStep], isDescending: Bool) {
      self.operand = operand
      self.isDescending = isDescending
      property = operand.map(\.name).joined(separator: ".")
      subject = "`\(property)`"
    }

    /// - Parameter operand: Nil where only the decoded document has the field.
    init(operand: [FieldStep]?, named property: String) {
      self.operand = operand
      isDescending = false
      self.property = property
      subject = "`\(property)`"
    }

    init<Entity, Value>(_ field: QueryField<Entity, Value>, isDescending: Bool) {
      operand = field.storedPath
      self.isDescending = isDescending
      property = field.nameInErrors ?? "<computed>"
      subject =
        field.nameInErrors.map { "`\($0)`" } ?? "a computed property of type `\(Value.self)`"
    }

    var name: String { (isDescending ? "-" : "") + property }
  }

  let name: String
  let parts: [Part]
  let isUnique: Bool
  let filter: FilterNode?
  /// Of a search index, the weight of each part; nil for one of values.
  let weights: [UInt32]?
  /// Of a search index.
  let tokenizer: SearchTokenizer
  /// File and line; nil where no `Index` says it.
  let place: String?

  init(
    name: String?, parts: [Part], isUnique: Bool, filter: FilterNode?, place: String? = nil,
    weights: [UInt32]? = nil, tokenizer: SearchTokenizer = .standard
  ) {
    self.parts = parts
    self.tokenizer = tokenizer
    self.weights = weights
    self.isUnique = isUnique
    self.filter = filter
    self.place = place
    let columns = parts.map(\.name).joined(separator: ",")
    self.name = (name ?? columns + (filter.map { " where \($0)" } ?? "")).normalized()
  }
}

extension Document {
  /// Indexes over several fields, partial ones, and those of fields in embedded documents. A
  /// single field can say it itself: ``Field/indexed(unique:descending:)``.
  public static var indexes: [Index<Self>] { [] }

  /// All that the type declares.
  static var declaredIndexes: [IndexDeclaration] {
    var declared = schema.fieldIndexes + indexes.map(\.definition)
    for index in ageing.compactMap(\.rule.index)
    where !declared.contains(where: { $0.filter == nil && $0.begins(like: index) }) {
      declared.append(index)
    }
    if let type = Self.self as? any Searchable.Type { declared.append(type.searchDeclaration) }
    return declared
  }
}

extension Searchable {
  fileprivate static var searchDeclaration: IndexDeclaration { search.declaration }
}

extension IndexDeclaration {
  /// Whether it has the order of another one, which has one field.
  fileprivate func begins(like other: IndexDeclaration) -> Bool {
    parts.first?.operand == other.parts.first?.operand
  }
}

extension Schema {
  var fieldIndexes: [IndexDeclaration] {
    indexedFields.map { field, index in
      IndexDeclaration(
        name: nil, parts: [.init(operand: [FieldStep(field)], isDescending: index.isDescending)],
        isUnique: index.isUnique, filter: nil)
    }
  }
}
