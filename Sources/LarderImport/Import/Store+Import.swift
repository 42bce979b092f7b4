public import Larder

extension Store {
  /// Imports the documents of a JSON or CSV file into a collection, whether it exists or not.
  ///
  /// ```swift
  /// let report = try store.importDocuments(from: .file("contacts.json"), into: "Contact", key: "id")
  /// ```
  /// The file is read to its end before anything is saved, to find out that every document can be
  /// saved, and which kinds the fields have that the catalogue does not know. So bad input changes
  /// nothing. Of the documents that differ from those in the store, up to 16 MB are kept and saved then. If
  /// there are more, or others have written meanwhile, the file is read a second time, and saved in batches; so
  /// it is if the documents have fields or kinds that the collection lacks, up to the last that does, and always
  /// where keys are made or stand twice. An import in one transaction keeps all documents, equal or not. So an
  /// import of what is mostly there costs one reading. Memory holds 16 MB, or six batches and the text of
  /// four, and 14 bytes for each document, however large the file is; with a unique index also its values and keys.
  ///
  /// A file of 4 MB or more with one document in each line is read by several threads, as many as
  /// `StoreOptions.readThreadCount` says, and four at most. Any other of 1 MB or more is read on a thread of
  /// its own while it is saved. A pipe is first copied to a temporary file.
  ///
  /// Documents with one key are refused, unless ``ImportOptions/repeatedKeys`` says otherwise. Columns of a
  /// CSV file whose kind neither the collection nor the caller tells are taken for what the first thousand
  /// rows show. A file in which a later row shows another kind, or which has an error, is read twice more
  /// before anything is saved.
  ///
  /// An object inside a document becomes an embedded document, or a dictionary where its names keep
  /// coming: more than 128 of them, of which each object has few.
  ///
  /// In a file of documents under keys, a document that lacks the field `key` gets it from the key
  /// that it stands under.
  ///
  /// With a query, the file takes the place of what the query matches: these documents are deleted, unless the file
  /// has them, in the one transaction in which all others are saved. Memory then holds the keys of what matches, too.
  ///
  /// - Parameters:
  ///   - key: The field that is the entity-accessor key; the collection's own where it exists.
  ///   - query: What the file takes the place of, such as `DynamicQuery()` for the whole collection; nil for nothing.
  ///     It may have neither a limit nor an offset, and its order is ignored.
  ///   - progress: Told now and then how far the import is; what it throws stops it, as does
  ///     cancelling the task that it runs in.
  /// - Throws: ``ImportError`` for input that cannot be read or saved, with its place; nothing is
  ///   changed then, the catalogue neither. `StoreError` when the import cannot begin, and `DynamicQueryError` for a
  ///   query that asks for a field which the collection lacks; nothing is
  ///   changed either. ``ImportInterrupted`` when it was stopped, or could not go on, after that:
  ///   the batches before stay saved.
  @discardableResult
  public func importDocuments(
    from source: ImportSource, into collection: String, key: String,
    clearBeforeSaving query: DynamicQuery? = nil, options: ImportOptions = ImportOptions(),
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    let isTable = options.format.resolved(for: source.name) == .csv
    var rehearsal = try SaveRehearsal(
      self.collection(collection), keyField: key, allowsMixed: options.allowsMixedKinds,
      rules: options.rules(isTable: isTable))
    if let query { try rehearsal.clear(query) }
    return try importDocuments(from: source, rehearsal, options, progress)
  }

  /// Imports the documents of a JSON or CSV file as those of a type: values are coerced to the kinds
  /// that it declares, such as text in ISO 8601 to dates, and refused where they do not fit.
  ///
  /// ```swift
  /// let report = try store.importDocuments(from: .file("contacts.json"), into: Contact.self)
  /// ```
  /// As in a save of the type, stored fields that it does not know stay, and its rules of ageing hold. A field that
  /// the file lacks is not stored: it is read as the initial value of its property, as with any document without it.
  ///
  /// With a query, the file takes the place of what the query matches, as in a save that clears before:
  ///
  /// ```swift
  /// let norwegian = Contact.where { $0.country == "NO" }
  /// try store.importDocuments(from: .file("no.json"), into: Contact.self, clearBeforeSaving: norwegian)
  /// ```
  ///
  /// - Throws: As ``importDocuments(from:into:key:clearBeforeSaving:options:progress:)``; `StoreError` also for a type
  ///   that cannot be declared, or whose schema names no key field.
  @discardableResult
  public func importDocuments<Entity: Document>(
    from source: ImportSource, into type: Entity.Type,
    clearBeforeSaving query: Query<Entity>? = nil, options: ImportOptions = ImportOptions(),
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    let isTable = options.format.resolved(for: source.name) == .csv
    var rehearsal = try SaveRehearsal(
      collection(Entity.schema.name), keyField: try keyField(of: type), declaring: type,
      allowsMixed: options.allowsMixedKinds,
      rules: options.rules(isTable: isTable))
    if let query { try rehearsal.clear(query) }
    return try importDocuments(from: source, rehearsal, options, progress)
  }

  /// The fields of a plain type are those that its values have had.
  private func keyField<Entity: Document>(of type: Entity.Type) throws -> String {
    if let field = Entity.schema.keyField { return field }
    return try read { $0.outline(of: Entity.schema.name)?.keyField } ?? ""
  }

  private func importDocuments(
    from source: ImportSource, _ rehearsal: SaveRehearsal, _ options: ImportOptions,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> ImportReport {
    try withoutActuallyEscaping(progress) { progress in
      var run = ImportRun(rehearsal, options: options, progress: progress)
      return try run.run(source)
    }
  }
}
