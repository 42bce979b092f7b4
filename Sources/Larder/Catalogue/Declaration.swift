internal import LarderLMDB

/// A collection and fields that the catalogue has to know before documents are written.
@usableFromInline struct Declaration: Sendable {
  let name: String
  let keyKind: KeyKind
  let keyField: String?
  /// Adds the fields to what the catalogue has.
  var merge: @Sendable (inout CollectionDescription) throws(StoreError) -> Void
  /// Indexes that the collection is to have besides those that it has.
  var indexes: [IndexDeclaration] = []
  /// Whether they take the place of what an app has declared, be it newer.
  var isExplicit = false

  init<Entity: Document>(_ type: Entity.Type) throws(StoreError) {
    let schema = Entity.schema
    guard try Layout.checkedCollectionName(schema.name).utf8.elementsEqual(schema.name.utf8) else {
      throw .collectionName(schema.name, reason: "it is not in Unicode's normalisation form C")
    }
    name = schema.name
    keyKind = Entity.Key.keyKind
    keyField = schema.keyField
    merge = { (description) throws(StoreError) in
      try description.merge(SchemaReference(type))
    }
    indexes = Entity.declaredIndexes
  }

  init(
    name: String, keyKind: KeyKind, keyField: String?, shape: some DocumentShape
  ) throws(StoreError) {
    self.name = try Layout.checkedCollectionName(name)
    self.keyKind = keyKind
    self.keyField = keyField
    merge = { (description) throws(StoreError) in try description.merge(shape) }
  }

  /// This declaration and, after it, another one of the same collection.
  func followed(by other: Declaration) -> Declaration {
    var both = self
    let first = merge
    both.merge = { (description) throws(StoreError) in
      try first(&description)
      try other.merge(&description)
    }
    both.indexes += other.indexes
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
    merge = { _ in }
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
