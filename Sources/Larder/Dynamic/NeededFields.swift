internal import LarderLMDB

/// What the catalogue has to know before documents without a type can be saved.
struct NeededFields {
  /// The field that is the key.
  let keyField: String
  /// Nil where the catalogue has all of it.
  let declaration: Declaration?
  /// The collection with the declaration: what documents are encoded against before it is made.
  let described: Collection

  /// - Parameters:
  ///   - keyField: The field that is the key, where the collection has none yet.
  ///   - stored: The collection as it is; nil where there is none.
  /// - Throws: ``StoreError`` for documents that cannot be saved there.
  init(
    _ documents: [DynamicDocument], in collection: DynamicCollection, keyField: String?,
    _ stored: Collection?
  ) throws {
    let place = try Place(collection, keyField, stored, first: documents.first ?? [:])
    self.keyField = place.keyField
    let declaration: Declaration
    let description: CollectionDescription
    do {
      declaration = try place.declaration(of: documents)
      description = try place.applied(declaration)
    } catch {
      throw place.named(error, documents)
    }
    if let stored, stored.description == description {
      self.declaration = nil
      described = stored
    } else {
      self.declaration = declaration
      described = Collection(description, documents: .main)
    }
  }

  /// Where the documents are to be saved.
  private struct Place {
    let collection: DynamicCollection
    let stored: Collection?
    let keyField: String
    let keyKind: KeyKind

    init(
      _ collection: DynamicCollection, _ keyField: String?, _ stored: Collection?,
      first: DynamicDocument
    ) throws {
      try stored?.checkMigrated()
      self.collection = collection
      self.stored = stored
      self.keyField = try collection.keyField(keyField, in: stored?.description)
      guard let keyKind = stored?.keyKind ?? KeyKind(of: first[self.keyField]) else {
        throw collection.keyRefused(first, self.keyField)
      }
      self.keyKind = keyKind
    }

    func declaration(of documents: [DynamicDocument]) throws -> Declaration {
      let shape = try collection.shape(of: documents, InferredShape(stored?.description))
      return try Declaration(
        name: collection.name, keyKind: keyKind, keyField: keyField, shape: shape)
    }

    func applied(_ declaration: Declaration) throws -> CollectionDescription {
      try declaration.applied(to: stored?.description, keeping: stored?.definitions ?? [])
    }

    /// A refusal with the key of the first document that is refused alone.
    func named(_ error: any Error, _ documents: [DynamicDocument]) -> any Error {
      var error = error
      let refused = documents.first { document in
        do {
          _ = try applied(declaration(of: [document]))
          return false
        } catch let own {
          error = own
          return true
        }
      }
      guard let refused, let key = refused[keyField]?.encodedKey(of: keyKind) else { return error }
      let text = key.withUnsafeBytes { keyKind.text(of: $0) }
      switch error {
      case StoreError.valueRefused(let name, _, let field, let found, let expected):
        return StoreError.valueRefused(
          collection: name, key: text, field: field, found: found, expected: expected)
      case StoreError.kindMismatch(let name, let field, let stored, let declared):
        // The documents that are stored are as they should be: it is the value of this one that does not fit.
        return StoreError.valueRefused(
          collection: name, key: text, field: field,
          found: refused[field]?.shortDescription ?? declared, expected: stored)
      default: return error
      }
    }
  }
}
