internal import LarderLMDB

extension MigrationBatch {
  /// Removes the fields that hold a value of the kind that is given here, in a document behind this batch as the
  /// closure will leave it. Costs a pass over these documents, up to the last field that is removed.
  ///
  /// - Throws: As the migration of these documents will.
  func removeKept(
    from kinds: inout [String: Kind<Int>], to version: Int, _ limits: MigrationLimits,
    _ transaction: borrowing WriteTransaction, _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    var last = isLast ? nil : documents.last?.storedKey
    while let key = last, !kinds.isEmpty {
      var next = try MigrationBatch(collection, after: key, limits, transaction)
      for index in next.documents.indices {
        try next.change(at: index, to: version, body)
        let content = next.documents[index].content
        if content.isDeleted { continue }
        for field in content.document.fields where field.value != .null {
          if kinds[field.name]?.reads(field.value) == true { kinds[field.name] = nil }
        }
      }
      last = next.isLast ? nil : next.documents.last?.storedKey
    }
  }
}
