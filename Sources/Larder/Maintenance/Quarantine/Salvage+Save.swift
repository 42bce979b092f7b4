internal import LarderLMDB

// How the documents of a damaged file come into the store.

extension Salvage {
  mutating func save(_ waiting: Waiting, of name: String, _ source: Source) throws {
    let saved =
      try saveAsTheyAre(waiting, of: name, source) ?? saveConverted(waiting, of: name, source)
    report.documentCounts[name, default: 0] += saved
  }

  /// Saves the records themselves.
  ///
  /// - Returns: How many; nil where the store describes the collection in another way.
  private func saveAsTheyAre(
    _ waiting: Waiting, of name: String, _ source: Source
  ) throws -> Int? {
    try store.write { tx in
      // Not the collection as it was when the records were read: an index may have been added since.
      guard let binding = tx.catalogue.binding(ofCollection: name),
        binding.collection.description.reads(recordsOf: source.description)
      else { return nil }
      return try tx.saveSalvaged(waiting.records, binding) { builder, key, record in
        try record.withUnsafeBytes { try builder.append(record: $0, key: key) }
        return true
      }
    }
  }

  /// Saves the documents with the fields and kinds that the store has.
  private mutating func saveConverted(
    _ waiting: Waiting, of name: String, _ source: Source
  ) throws -> Int {
    var documents: [(key: [UInt8], document: DynamicDocument)] = []
    for (key, record) in waiting.records {
      let document = try? key.withUnsafeBytes { key in
        try record.withUnsafeBytes { record in
          try source.binding.reading(record, key: key) { try DynamicDocument($0) }
        }
      }
      // Its checksum is right, and yet its fields are not those that the file describes.
      guard let document else {
        report.damagedRecordCount += 1
        continue
      }
      documents.append((key, document))
    }
    try declareFields(of: documents.map(\.document), in: name)
    let (saved, unfit): (Int, Int) = try store.write { tx in
      guard let binding = tx.catalogue.binding(ofCollection: name),
        binding.collection.keyKind == source.description.keyKind,
        binding.collection.description.migratingTo == nil, source.description.migratingTo == nil
      else { return (0, documents.count) }
      var unfit = 0
      let saved = try tx.saveSalvaged(documents, binding) { builder, key, document in
        do {
          try builder.append(document, key: key)
          return true
        } catch is StoreError {
          builder.abandon()
          unfit += 1
          return false
        }
      }
      return (saved, unfit)
    }
    report.leave(
      unfit, of: name, because: "they do not fit the fields that the store has for them")
    return saved
  }

  /// Makes the fields known that the store lacks, as far as the documents agree with it.
  private func declareFields(of documents: [DynamicDocument], in name: String) throws {
    let engine = store.engine
    guard let here = engine.catalogue[name]?.description else { return }
    var shape = InferredShape(here)
    for document in documents {
      var wider = shape
      // One that disagrees is counted where it is saved.
      if (try? wider.add(document)) != nil { shape = wider }
    }
    do {
      let declaration = try Declaration(
        name: name, keyKind: here.keyKind, keyField: here.keyField, shape: shape)
      try engine.writer.run { try engine.declare(declaration) }
    } catch StoreError.kindMismatch, StoreError.valueRefused, StoreError.unfinishedMigration {
      // Those that need these fields are counted, too.
    }
  }
}

extension WriteScope {
  /// Saves those documents of a batch whose keys no document has yet; returns how many.
  ///
  /// - Parameter append: Adds one to the batch; false where it cannot.
  fileprivate mutating func saveSalvaged<Content>(
    _ documents: [(key: [UInt8], Content)], _ binding: CollectionBinding,
    _ append: (inout BatchBuilder, UnsafeRawBufferPointer, Content) throws -> Bool
  ) throws -> Int {
    var builder = BatchBuilder(binding, count: documents.count)
    var saved = 0
    for (key, content) in documents {
      let isSaved = try key.withUnsafeBytes { key in
        let isThere =
          try transaction.withValue(for: key, in: binding.collection.documents) { _ in true }
        return try isThere == nil && append(&builder, key, content)
      }
      if isSaved { saved += 1 }
    }
    let batch = Batch(builder)
    _ = try rewriting { try $0.apply(batch, clearing: nil, binding) }
    return saved
  }
}
