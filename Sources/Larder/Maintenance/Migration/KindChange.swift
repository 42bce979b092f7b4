internal import LarderLMDB

/// Which fields a migration gives another kind, although their new values could be coerced to the one that they had.
struct KindChange {
  /// The old kinds of the fields in which no document seen so far holds a value of that kind any more.
  private var kinds: [String: Kind<Int>] = [:]
  /// Fields with values of another kind; and those of them where such a value stands in the place of one of the old
  /// kind. What only fills in for nil is coerced.
  private var filled: Set<String> = []
  private var converted: Set<String> = []

  init(fields: FieldTable) {
    for field in fields.fields { kinds[field.name] = field.kind }
  }

  /// Fields that may be given another kind, by what was seen so far.
  var candidates: Set<String> { filled.filter { kinds[$0] != nil } }

  var isEmpty: Bool { kinds.isEmpty }

  func isMade(of field: String) -> Bool { kinds[field] != nil && converted.contains(field) }

  mutating func keep(only names: some Sequence<String>) {
    let names = Set(names)
    kinds = kinds.filter { names.contains($0.key) }
  }

  /// Takes a document in that the closure has changed.
  mutating func look(at document: MigratingDocument) {
    if document.isDeleted { return }
    for field in document.document.fields where field.value != .null {
      guard let kind = kinds[field.name] else { continue }
      // ``MigratedShape`` finds another kind for values that cannot be coerced.
      if kind.reads(field.value) || field.value.coerced(to: kind.unwrapped) == nil {
        kinds[field.name] = nil
        continue
      }
      filled.insert(field.name)
      if let old = document.stored[field.name], kind.reads(old) { converted.insert(field.name) }
    }
  }
}

extension MigrationBatch {
  /// Looks at the documents behind this batch as the closure will leave them. Costs a pass over them, up to where
  /// nothing is left to be found out.
  ///
  /// - Throws: As the migration of these documents will.
  func lookAhead(
    _ change: inout KindChange, to version: Int, _ limits: MigrationLimits,
    _ transaction: borrowing WriteTransaction, _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    var last = isLast ? nil : documents.last?.storedKey
    while let key = last, !change.isEmpty {
      var next = try MigrationBatch(collection, after: key, limits, transaction)
      for index in next.documents.indices {
        try next.change(at: index, to: version, body)
        change.look(at: next.documents[index].content)
      }
      last = next.isLast ? nil : next.documents.last?.storedKey
    }
  }
}

extension Kind {
  /// Whether this is how a value of this kind is read.
  fileprivate func reads(_ value: Value) -> Bool {
    switch (self, value) {
    case (.bool, .bool), (.integer, .integer), (.integer, .unsigned), (.float, .double),
      (.double, .double), (.string, .string), (.data, .data), (.date, .date), (.uuid, .uuid),
      (.url, .url), (.decimal, .decimal):
      true
    case (.bool, _), (.integer, _), (.float, _), (.double, _), (.string, _), (.data, _), (.date, _),
      (.uuid, _), (.url, _), (.decimal, _):
      false
    case (.optional(let inner), _): inner.isOptional || inner.reads(value)
    // Arrays, sets, dictionaries and documents are never coerced.
    default: true
    }
  }
}
