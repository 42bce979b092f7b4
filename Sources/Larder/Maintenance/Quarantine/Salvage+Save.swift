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
  private mutating func saveAsTheyAre(
    _ waiting: Waiting, of name: String, _ source: Source
  ) throws -> Int? {
    let counts: (saved: Int, clashing: Int)? = try store.write { tx in
      // Not the collection as it was when the records were read: an index may have been added since.
      guard let binding = tx.catalogue.binding(ofCollection: name),
        binding.collection.description.reads(recordsOf: source.description)
      else { return nil }
      return try tx.saveSalvaged(waiting.records, binding) { builder, key, record in
        try record.withUnsafeBytes { try builder.append(record: $0, key: key) }
        return true
      }
    }
    guard let counts else { return nil }
    report.leave(counts.clashing, of: name, because: Self.clash)
    return counts.saved
  }

  private static let clash = "they have values of a unique index that other documents have"

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
    let (saved, clashing, unfit): (Int, Int, Int) = try store.write { tx in
      guard let binding = tx.catalogue.binding(ofCollection: name),
        binding.collection.keyKind == source.description.keyKind,
        binding.collection.description.migratingTo == nil, source.description.migratingTo == nil
      else { return (0, 0, documents.count) }
      var unfit = 0
      let (saved, clashing) = try tx.saveSalvaged(documents, binding) { builder, key, document in
        do {
          try builder.append(document, key: key)
          return true
        } catch is StoreError {
          builder.abandon()
          unfit += 1
          return false
        }
      }
      return (saved, clashing, unfit)
    }
    report.leave(clashing, of: name, because: Self.clash)
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
  /// Saves those documents of a batch whose keys no document has yet.
  ///
  /// - Parameter append: Adds one to the batch; false where it cannot.
  /// - Returns: How many it has saved, and how many have a value of a unique index that another document has.
  fileprivate mutating func saveSalvaged<Content>(
    _ documents: [(key: [UInt8], Content)], _ binding: CollectionBinding,
    _ append: (inout BatchBuilder, UnsafeRawBufferPointer, Content) throws -> Bool
  ) throws -> (saved: Int, clashing: Int) {
    var builder = BatchBuilder(binding, count: documents.count)
    var appended: [Int] = []
    for (place, (key, content)) in documents.enumerated() {
      let isAppended = try key.withUnsafeBytes { key in
        let isThere =
          try transaction.withValue(for: key, in: binding.collection.documents) { _ in true }
        return try isThere == nil && append(&builder, key, content)
      }
      if isAppended { appended.append(place) }
    }
    let batch = Batch(builder)
    do {
      _ = try rewriting { try $0.apply(batch, clearing: nil, binding) }
      return (appended.count, 0)
    } catch StoreError.uniqueViolation {
      // Undone as a whole, which is a reason to leave out one of them.
      var clashing = 0
      for place in appended {
        let (key, content) = documents[place]
        var builder = BatchBuilder(binding, count: 1)
        _ = try key.withUnsafeBytes { try append(&builder, $0, content) }
        let batch = Batch(builder)
        do {
          _ = try rewriting { try $0.apply(batch, clearing: nil, binding) }
        } catch StoreError.uniqueViolation {
          clashing += 1
        }
      }
      return (appended.count - clashing, clashing)
    }
  }
}
