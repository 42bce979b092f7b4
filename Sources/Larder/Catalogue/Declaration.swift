internal import LarderLMDB

/// A collection and fields that the catalogue has to know before documents are written.
@usableFromInline struct Declaration: Sendable {
  let name: String
  let keyKind: KeyKind
  let keyField: String?
  /// Adds the fields that a type declares to what the catalogue has.
  var declares: Merge = { _ in }
  /// Adds those that values show; nil where nothing comes from values.
  var infers: Merge?
  /// Whether no type declares anything.
  var isInferred = false
  /// Whether a type computes the keys. Where no key field is named, nothing may be known of it either.
  var computesKeys = false
  /// Indexes that the collection is to have besides those that it has.
  var indexes: [IndexDeclaration] = []
  /// Whether they take the place of what an app has declared, be it newer.
  var isExplicit = false

  typealias Merge = @Sendable (inout CollectionDescription) throws(StoreError) -> Void

  init<Entity: Document>(_ type: Entity.Type) throws(StoreError) {
    let schema = Entity.schema
    guard try Layout.checkedCollectionName(schema.name).utf8.elementsEqual(schema.name.utf8) else {
      throw .collectionName(schema.name, reason: "it is not in Unicode's normalisation form C")
    }
    name = schema.name
    keyKind = Entity.Key.keyKind
    keyField = schema.keyField
    computesKeys = schema.computesKeys
    declares = { (description) throws(StoreError) in
      try description.merge(SchemaReference(type))
    }
    indexes = Entity.declaredIndexes
  }

  init<Shape: DocumentShape>(
    name: String, keyKind: KeyKind, keyField: String?, shape: Shape
  ) throws(StoreError) {
    self.name = try Layout.checkedCollectionName(name)
    self.keyKind = keyKind
    self.keyField = keyField
    let merge: Merge = { (description) throws(StoreError) in try description.merge(shape) }
    if Shape.isDeclared { declares = merge } else { infers = merge }
    isInferred = !Shape.isDeclared
  }

  /// This declaration, which is that of a type, and after it what values of the same collection show.
  func followed(by other: Declaration) -> Declaration {
    var both = self
    both.infers = other.infers
    return both
  }

  /// An index that no type declares, of a collection that exists.
  init(of index: IndexDeclaration, in description: CollectionDescription) {
    self.init(renewing: description)
    indexes = [index]
    isExplicit = true
  }

  /// Changes nothing but what has become out of date.
  init(renewing description: CollectionDescription) {
    name = description.name
    keyKind = description.keyKind
    keyField = description.keyField
  }
}

extension Declaration {
  /// The description of a collection, nil where there is none, with what this declares.
  ///
  /// A type may declare a kind that a field's stored one cannot become, where all that documents hold in it is
  /// written the same way, as nil is; and another key where there is no document.
  ///
  /// - Parameters:
  ///   - indexes: Those that values may not make impossible; a type may.
  ///   - isKept: Whether what the documents hold in some fields is written the same way under another description;
  ///     where there is no document everything is.
  /// - Throws: ``StoreError/keyKind(collection:stored:found:)``,
  ///   ``StoreError/keyField(collection:stored:given:)``,
  ///   ``StoreError/kindMismatch(collection:field:stored:declared:)``, and
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)``; what `isKept` throws.
  func applied(
    to stored: CollectionDescription?, keeping indexes: [IndexDefinition],
    isKept: (KeptContent, CollectionDescription) throws -> Bool
  ) throws -> CollectionDescription {
    guard let stored, !isInferred else { return try applied(to: stored, keeping: indexes) }
    do {
      return try applied(to: stored, keeping: indexes, forgetting: .wholeFields, isKept: isKept)
    } catch StoreError.kindMismatch(_, let path, _, _) where stored.field(at: path) != path {
      // Documents are there that have the field's type, but maybe nothing in the one that has another kind.
      return try applied(to: stored, keeping: indexes, forgetting: .places, isKept: isKept)
    }
  }

  /// How much is given up of a field whose kind is to change.
  private enum Forgotten {
    /// The field of the documents, with all that is in it.
    case wholeFields
    /// The one field, also inside of embedded documents, that a type gives another kind.
    case places
  }

  private func applied(
    to stored: CollectionDescription, keeping indexes: [IndexDefinition],
    forgetting forgotten: Forgotten,
    isKept: (KeptContent, CollectionDescription) throws -> Bool
  ) throws -> CollectionDescription {
    var current = stored
    var (left, isAnew) = ([(path: String, fields: [String], refusal: StoreError)](), false)
    var refusal: StoreError?
    var isDecided = false
    while true {
      do {
        let description = try applied(to: current, keeping: indexes)
        isDecided = true
        let content = isAnew ? KeptContent.anything : .fields(left.flatMap(\.fields))
        if let refusal, try !isKept(content, description) {
          // Of several fields the one is told that has values of the old kind.
          let found =
            try isAnew
            ? nil
            : left.first { one in
              var alone = description
              for other in left where other.path != one.path {
                alone.restoreKind(of: other.path, from: stored)
              }
              return try !isKept(.fields(one.fields), alone)
            }
          throw found?.refusal ?? refusal
        }
        return description
      } catch let error as StoreError where refusal != error && !isDecided {
        if refusal == nil, let earlier = try earlier(of: stored, error, isKept) { return earlier }
        refusal = refusal ?? error
        switch error {
        case .kindMismatch(_, let path, _, _):
          guard let field = current.field(at: path) else { throw error }
          if try isKept(.anything, current) {
            left.append((field, [field], error))
            guard current.leave(field) else { throw error }
          } else {
            // Edits that a remote has not been told of may hold values of the kind before.
            let place = forgotten == .wholeFields ? field : path
            guard !current.isSynced, let fields = current.forgetKind(of: place) else {
              throw error
            }
            left.append((place, fields, error))
          }
        case .keyKind, .keyField:
          // A remote, and edits that it has not been told of, know documents by their keys.
          guard !current.isSynced, !isAnew else { throw error }
          current.beginAnew(keyKind: keyKind, keyField: keyField)
          isAnew = true
        default: throw error
        }
      }
    }
  }

  /// The description with an earlier table that has everything which this declares, for a collection without
  /// documents. So two versions of a type that take turns do not add a table each time.
  private func earlier(
    of stored: CollectionDescription?, _ error: StoreError,
    _ isKept: (KeptContent, CollectionDescription) throws -> Bool
  ) throws -> CollectionDescription? {
    guard var candidate = stored, error.isOfShape, try isKept(.anything, candidate) else {
      return nil
    }
    if error.isOfKey {
      // A plain type whose key field was not found yet has not shown its fields either: every table would seem
      // to fit.
      if candidate.isSynced || keyField == nil && !computesKeys { return nil }
      (candidate.keyKind, candidate.keyField) = (keyKind, keyField)
    }
    for table in candidate.tables.indices where table != stored?.documentTable {
      candidate.documentTable = table
      if (try? applied(to: candidate, keeping: [])) == candidate { return candidate }
    }
    return nil
  }

  /// Which stored values another description must not change: those of some fields, or those of every document.
  enum KeptContent {
    case fields([String])
    case anything
  }

  /// The same, where what documents hold makes no difference.
  func applied(
    to stored: CollectionDescription?, keeping indexes: [IndexDefinition]
  ) throws(StoreError) -> CollectionDescription {
    var description =
      stored ?? CollectionDescription(name: name, keyKind: keyKind, keyField: keyField)
    guard description.keyKind == keyKind else {
      throw .keyKind(collection: name, stored: description.keyKind, found: keyKind)
    }
    try declares(&description)
    if let infers {
      let declared = description
      try infers(&description)
      try description.checkKeeps(indexes, of: declared)
    }
    if let keyField, isInferred, stored?.hasComputedKey == true {
      throw .keyField(collection: name, stored: nil, given: keyField)
    }
    try description.settleKey(keyField, isComputed: computesKeys, before: stored)
    return description
  }
}

/// Ends the encoding of a batch, which begins again when the fields have been declared.
struct FieldsNeeded: Error {
  let declaration: Declaration
}

/// A guest whose documents may need fields that the catalogue lacks.
@usableFromInline protocol DeclaringGuest: RecordGuest {
  /// What must be declared before the documents can be written that could not be; nil where there
  /// is none.
  ///
  /// - Throws: ``StoreError`` for documents whose fields cannot be declared.
  func missingFields(in collection: Collection) throws -> Declaration?
}
