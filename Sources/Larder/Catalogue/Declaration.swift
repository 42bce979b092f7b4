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
  /// - Parameter indexes: Those that values may not make impossible; a type may.
  /// - Throws: ``StoreError/keyKind(collection:stored:found:)``,
  ///   ``StoreError/keyField(collection:stored:given:)`` where values name the key of a collection whose
  ///   type computes it, ``StoreError/kindMismatch(collection:field:stored:declared:)``, and
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)``.
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
    if description.keyField == nil, let keyField {
      // Only a type knows that what it has computed until now is a field's value.
      if isInferred, stored?.hasComputedKey == true {
        throw .keyField(collection: name, stored: nil, given: keyField)
      }
      description.keyField = keyField
    }
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
