internal import LarderLMDB

extension CollectionDescription {
  /// Begins a table for documents of the next version, with the fields of the last one.
  ///
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` when there are
  ///   more tables than records can number.
  mutating func beginMigration(to version: Int) throws(StoreError) {
    guard tables.count < Self.maximumCount else {
      throw .valueRefused(
        collection: name, key: "", field: "", found: "\(tables.count) field tables",
        expected: "fewer; move the documents to another collection")
    }
    tables.append(fields)
    documentTable = tables.count - 1
    migratingTo = version
  }
}

/// The fields of documents that are migrated, as their values need them.
///
/// A value is coerced to the kind that its field had, where it fits. Where it does not, the kind
/// is widened; or replaced, as long as no document of the new version has the field: one field
/// never holds two kinds.
struct MigratedShape {
  private(set) var description: CollectionDescription
  private(set) var binding: CollectionBinding
  private let documents: Database
  /// Whether batches before this one may have stored documents of the new version.
  private let hasEarlier: Bool
  /// What was done already for a field that did not fit.
  private var widened: Set<String> = []
  private var replaced: Set<String> = []

  /// Looks at what the documents behind a batch will be: what becomes of a field must not depend on where a batch
  /// ends.
  typealias LookAhead = (
    _ change: inout KindChange, _ transaction: borrowing WriteTransaction
  ) throws -> Void

  init(_ collection: Collection, hasEarlier: Bool) {
    description = collection.description
    binding = CollectionBinding(collection)
    documents = collection.documents
    self.hasEarlier = hasEarlier
  }

  /// The records of a batch.
  ///
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` for a value of
  ///   another kind than the field has in documents before it;
  ///   ``StoreError/unwritable(collection:key:reason:)``.
  mutating func encode(
    _ batch: MigrationBatch, _ transaction: borrowing WriteTransaction, _ lookAhead: LookAhead
  ) throws -> Batch {
    let items = batch.documents.filter { !$0.content.isDeleted }
    weaken(items)
    try take(kindsOf: items, transaction, lookAhead)
    while true {
      var builder = BatchBuilder(binding, count: items.count)
      builder.writer.mayLackFields = true
      var misfit: (MigrationBatch.Item, CoercionError)?
      for item in items {
        do {
          try item.key.withUnsafeBytes {
            try builder.append(coercing: item.content.document, key: $0)
          }
        } catch let error as CoercionError {
          misfit = (item, error)
          break
        }
      }
      guard let (item, error) = misfit else { return Batch(builder) }
      try adapt(to: items, item, error, transaction)
      binding = CollectionBinding(Collection(description, documents: documents))
    }
  }

  /// A field that documents of the new version lack is no longer required of those without type.
  private mutating func weaken(_ items: [MigrationBatch.Item]) {
    let table = description.documentTable
    for (slot, field) in description.fields.fields.enumerated()
    where field.isRequired && items.contains(where: { $0.content.document[field.name] == nil }) {
      description.tables[table][slot].isRequired = false
    }
  }

  /// Where the closure turns values of a field into ones of another kind, and leaves none of the kind that it had, the
  /// field gets that kind, although they could be coerced: the next version of the type declares it.
  private mutating func take(
    kindsOf items: [MigrationBatch.Item], _ transaction: borrowing WriteTransaction,
    _ lookAhead: LookAhead
  ) throws {
    var change = KindChange(description, looksInside: !hasEarlier)
    for item in items { change.look(at: item.content) }
    let names = try change.candidates.filter { name in
      if change.holdsDocuments(name) { return true }
      return try change.shape(of: name).flatMap { try replacing(name, $0, transaction) } != nil
    }
    if names.isEmpty { return }
    change.keep(only: names)
    try lookAhead(&change, transaction)
    for name in names.sorted() where change.isMade(of: name) {
      guard let shape = change.shape(of: name),
        let replacing = try replacing(name, shape, transaction)
      else { continue }
      replaced.insert(name)
      description = replacing
    }
    for (name, kinds) in change.changesInside.sorted(by: { $0.key < $1.key }) {
      try description.replaceKinds(inside: name, by: kinds)
    }
    binding = CollectionBinding(Collection(description, documents: documents))
  }

  /// Makes room for the values of a field that did not fit into `item`.
  private mutating func adapt(
    to items: [MigrationBatch.Item], _ item: MigrationBatch.Item, _ error: CoercionError,
    _ transaction: borrowing WriteTransaction
  ) throws {
    guard let name = error.path.first, !replaced.contains(name) else {
      throw refused(item, error)
    }
    let shape = try shape(of: name, in: items, misfit: (item, error))
    if widened.insert(name).inserted, let wider = try widened(name, shape) {
      description = wider
      return
    }
    guard let replacing = try replacing(name, shape, transaction) else {
      throw refused(item, error)
    }
    replaced.insert(name)
    description = replacing
  }

  /// The kind of a field's values in all the documents.
  ///
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` where they have
  ///   two: for `misfit`, where even those before the other kind could not be stored.
  private func shape(
    of name: String, in items: [MigrationBatch.Item],
    misfit: (MigrationBatch.Item, CoercionError)
  ) throws(StoreError) -> InferredShape {
    var shape = InferredShape()
    for item in items {
      guard let value = item.content.document[name] else { continue }
      do throws(InferredShape.Conflict) {
        try shape.add([name: value])
      } catch {
        if hasEarlier, try widened(name, shape) == nil { throw refused(misfit.0, misfit.1) }
        throw refused(
          item, CoercionError(path: error.steps, found: error.found, expected: error.seen))
      }
    }
    return shape
  }

  /// The description with a kind that the field's stored one can become; nil where it cannot.
  private func widened(
    _ name: String, _ shape: InferredShape
  ) throws(StoreError) -> CollectionDescription? {
    var wider = description
    if let slot = wider.fields.slot(of: name) {
      // The kind comes from values now, and no longer from the type of the version before.
      wider.tables[wider.documentTable][slot].isDeclared = false
    }
    do throws(StoreError) {
      try wider.merge(shape)
    } catch .kindMismatch {
      return nil
    }
    return wider
  }

  /// The description with a kind that has nothing to do with the field's stored one; nil where
  /// documents of the new version hold values that are of the stored one alone.
  private func replacing(
    _ name: String, _ shape: InferredShape, _ transaction: borrowing WriteTransaction
  ) throws -> CollectionDescription? {
    for isOptional in [false, true] {
      var replacing = description
      try replacing.replaceKind(of: name, by: shape, isOptional: isOptional)
      if try !hasEarlier || fit(name, replacing, transaction) { return replacing }
    }
    return nil
  }

  /// Whether the values that documents of the new version hold in a field have the same bytes
  /// under another description: nil and the empty array do, under most.
  private func fit(
    _ name: String, _ other: CollectionDescription, _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    try transaction.keeps(
      [name], of: Collection(description, documents: documents), under: other,
      inTable: description.documentTable)
  }

  private func refused(_ item: MigrationBatch.Item, _ error: CoercionError) -> StoreError {
    item.storedKey.withUnsafeBytes { binding.refused($0, error) }
  }
}
