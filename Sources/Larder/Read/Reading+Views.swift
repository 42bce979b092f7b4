internal import LarderLMDB

extension Reading where Self: ~Copyable {
  /// Lends a view of the document under `key`; nil where there is none. Nothing is decoded but the
  /// fields that `body` asks for.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for a record whose checksum is
  ///   wrong or a field that cannot be read; whatever else `body` throws.
  public borrowing func view<Entity: Document, Result>(
    _ type: Entity.Type = Entity.self, _ key: Entity.Key,
    _ body: (borrowing DocumentView<Entity>) throws -> Result
  ) throws -> Result? {
    try withMoment { moment in
      guard let binding = try moment.binding(of: type, key: key) else { return nil }
      return try key.withEncodedKey { key in
        guard (1...KeyKind.maximumByteCount).contains(key.count) else { return nil }
        return try moment.transaction.withValue(for: key, in: binding.collection.documents) {
          record in
          try binding.viewing(record, key: key, as: type, body)
        }
      }
    }
  }

  /// Lends views of the documents that `query` selects, in its order, until `body` says false.
  ///
  /// - Throws: As ``view(_:_:_:)``.
  public borrowing func forEachView<Entity: Document>(
    _ query: Query<Entity>, _ body: (borrowing DocumentView<Entity>) throws -> Bool
  ) throws {
    try withMoment { moment in
      let selection = query.selection
      guard let binding = try moment.binding(of: Entity.self, matching: selection.interest) else {
        return
      }
      let limit = selection.maximum ?? .max
      if limit == 0 { return }
      let wanted = limit.addingReportingOverflow(selection.skipped)
      var skipped = 0
      var taken = 0
      try moment.transaction.execution(of: selection, binding).forEach(
        in: moment.transaction, wanted: wanted.overflow ? .max : wanted.partialValue
      ) { key, record in
        if skipped < selection.skipped {
          skipped += 1
          return true
        }
        taken += 1
        return try binding.viewing(record, key: key, as: Entity.self, body) && taken < limit
      }
    }
  }

  /// Lends the documents that `query` selects, in its order, until `body` says false. One is in memory
  /// at a time; where nothing has to be sorted, reading ends with the last that `body` wants.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read; whatever `body` throws.
  public borrowing func forEach<Entity: Document>(
    _ query: Query<Entity>, _ body: (Entity) throws -> Bool
  ) throws {
    guard query.selection.unreadable != nil else {
      return try forEachView(query) { view in try body(view.decoded()) }
    }
    try withMoment { moment in
      let form = ModelForm<Entity, Entity>.documents.skipping(query.selection.unreadable)
      let filter = query.selection.interest
      guard let binding = try moment.binding(of: form, matching: filter) else { return }
      try moment.forEachModel(query.selection, binding, form, body)
    }
  }
}
