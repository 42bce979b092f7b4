internal import LarderLMDB

/// Entities as the records that a store would keep, in plain Swift collections. Conditions are
/// evaluated on the records as a store does it, so that their meaning cannot drift apart; all
/// else is as simple as can be, since a store is compared with it.
struct InMemoryCollection<Entity: Document>: Sendable {
  private var records: [[UInt8]: [UInt8]] = [:]
  /// How the type's fields stand in the records; nil before the first save.
  private var binding: CollectionBinding?
  /// That of the records which the log has left of what was erased.
  private var erasedBinding: CollectionBinding?

  /// The number of the last change.
  private(set) var sequence: UInt64 = 0
  /// The number of the last change of each origin.
  private var lastChanges: [ChangeOrigin: UInt64] = [:]
  private var log = InMemoryLog()

  /// Says where the changes after one come from, if there were any.
  mutating func note(_ origin: ChangeOrigin, after position: UInt64) {
    guard sequence > position else { return }
    lastChanges[origin] = sequence
    log.end(sequence, origin)
  }

  /// Whether anything has changed after `position` that does not come from one of these origins. Where there are
  /// such, a document has to match the filter before or after the change, as in a store.
  func hasNews(
    after position: UInt64, ignoring ignored: Set<ChangeOrigin>, matching filter: FilterNode
  ) -> Bool {
    guard lastChanges.contains(where: { !ignored.contains($0.key) && $0.value > position }) else {
      return false
    }
    guard !ignored.isEmpty, let binding = binding ?? erasedBinding else { return true }
    let evaluation = Evaluation(filter, in: binding.collection)
    return log.hasChange(after: position, ignoring: ignored) { change in
      // What cannot be read may be anybody's: who looks finds out.
      [change.old, change.new].contains { record in
        record.map { (try? Self.matches(evaluation, change.key, $0, binding)) ?? true } ?? false
      }
    }
  }

  func entity(under key: Entity.Key) throws -> Entity? {
    guard let record = records[key.encodedBytes] else { return nil }
    return try reading(record, key.encodedBytes) { try Entity(from: $0) }
  }

  /// A selection that is sorted by rank with the statistics of all that is kept.
  func ranked(_ selection: Selection) -> Selection {
    guard let binding, selection.needsStatistics else { return selection }
    return selection.ranked { Self.statistics(of: $0, in: binding, among: records.values) }
  }

  static func statistics(
    of condition: SearchCondition, in binding: CollectionBinding,
    among records: some Sequence<[UInt8]>
  ) -> SearchStatistics {
    let test = SearchTest(condition, in: binding.collection.description.fields)
    var counter = SearchStatistics.Counter(condition.expression)
    for record in records {
      record.withUnsafeBytes { binding.count($0, test, in: &counter) }
    }
    return counter.statistics
  }

  /// An entity, and what its order goes by.
  struct Match {
    let entity: Entity
    let values: [Value]
    let key: [UInt8]
  }

  /// The entities that a selection's filter matches, in its order.
  func matches(_ selection: Selection) throws -> [Match] {
    try selection.checkDepth()
    guard let binding else { return [] }
    let selection = ranked(selection)
    let evaluation = Evaluation(
      selection.filter, order: selection.order, in: binding.collection,
      passesUnreadable: selection.unreadable != nil)
    var matches: [Match] = []
    for (key, record) in records.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      guard try self.matches(evaluation, key, record) else { continue }
      let match = { () throws -> Match in
        try reading(record, key) {
          Match(entity: try Entity(from: $0), values: try evaluation.sortValues($0), key: key)
        }
      }
      if let unreadable = selection.unreadable {
        if let match = try unreadable.skipping(match) { matches.append(match) }
      } else {
        matches.append(try match())
      }
    }
    return evaluation.sorted(matches)
  }

  /// The entities with a model that a selection selects.
  func rows<Model>(
    _ selection: Selection, _ mapper: some EntityMapper<Model, Entity>
  ) throws -> ArraySlice<(row: Match, model: Model)> {
    try matches(selection)
      .compactMap { row in mapper.convert(row.entity).map { (row, $0) } }
      .dropFirst(selection.skipped).prefix(selection.maximum ?? .max)
  }

  /// Entities that are kept nowhere, for an aggregate of them.
  static func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of entities: [Entity]
  ) throws -> Result {
    var collection = InMemoryCollection()
    _ = try collection.save(entities, Unmapped(), clearing: nil, .replace, as: .local)
    return try collection.aggregate(
      aggregate,
      of: entities.map {
        Match(entity: $0, values: [], key: $0.entityAccessorKey.encodedBytes)
      })
  }

  /// What an aggregate makes of entities that were found.
  func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of rows: some Sequence<Match>
  ) throws -> Result {
    guard let binding else { return try aggregate.ofNothing() }
    return try aggregate.fromRecords(binding.collection) { body in
      for row in rows {
        guard let record = records[row.key] else { continue }
        let goesOn = try row.key.withUnsafeBytes { key in
          try reading(record, row.key) { try body(key, $0) }
        }
        if !goesOn { return }
      }
    }
  }

  private func matches(
    _ evaluation: Evaluation, _ key: [UInt8], _ record: [UInt8]
  ) throws -> Bool {
    guard let binding else { return false }
    return try Self.matches(evaluation, key, record, binding)
  }

  private static func matches(
    _ evaluation: Evaluation, _ key: [UInt8], _ record: [UInt8], _ binding: CollectionBinding
  ) throws -> Bool {
    try key.withUnsafeBytes { key in
      try record.withUnsafeBytes { try binding.matches(evaluation, key: key, record: $0) }
    }
  }

  private func reading<Result>(
    _ record: [UInt8], _ key: [UInt8], _ body: (borrowing RecordReader) throws -> Result
  ) throws -> Result {
    guard let binding else { preconditionFailure("a record without a binding") }
    return try key.withUnsafeBytes { key in
      try record.withUnsafeBytes { try binding.reading($0, key: key, body) }
    }
  }
}

// MARK: Watching

extension InMemoryCollection {
  /// The rows of a watched query, in its order, with their models.
  func rows<Model>(_ reader: RowReader<Entity, Model>) throws -> [(row: Row, model: Model)] {
    try reader.checkDepth()
    guard let binding else { return [] }
    var reader = reader
    reader.rank { Self.statistics(of: $0, in: binding, among: records.values) }
    let bound = reader.bound(to: binding)
    var bytes = OrderedBytes()
    var rows: [(row: Row, model: Model)] = []
    for (key, record) in records {
      try key.withUnsafeBytes { key in
        try record.withUnsafeBytes { record in
          if let row = try reader.row(key, record, bound, &bytes),
            let model = try reader.model(key, record, binding)
          {
            rows.append((row, model))
          }
        }
      }
    }
    rows.sort { $0.row.order($1.row.place) < 0 }
    return rows
  }
}

// MARK: Changes

extension InMemoryCollection {
  mutating func save<Model>(
    _ models: [Model], _ mapper: some EntityMapper<Model, Entity>, clearing selection: Selection?,
    _ policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    if binding == nil, models.isEmpty { return SaveReport() }
    var binding = try binding ?? CollectionBinding(undeclared: Entity.self)
    self.binding = binding
    var report = SaveReport()
    var batch: [[UInt8]: [UInt8]] = [:]
    for model in models {
      let key = mapper.entityAccessorKey(model)
      let record: [UInt8]
      if case .keepExisting = policy, let stored = records[key.encodedBytes] {
        record = stored
      } else {
        let entity: Entity
        if var stored = try self.entity(under: key) {
          try mapper.update(&stored, by: model, under: key, onConflict: policy, as: origin)
          entity = stored
        } else {
          entity = try mapper.newEntity(for: model, under: key, as: origin)
        }
        record = try Self.record(of: entity, &binding)
        self.binding = binding
      }
      let earlier = batch.updateValue(record, forKey: key.encodedBytes)
      if earlier != nil { report.duplicates += 1 }
    }
    let before = records
    if let selection { report.deleted = try delete(selection) { batch[$0] != nil } }
    for (key, record) in batch {
      let old = records.updateValue(record, forKey: key)
      log.note(key, from: old, to: record)
      switch old {
      case nil: report.inserted += 1
      case record: report.unchanged += 1
      default: report.updated += 1
      }
    }
    try refuseEqualValues(since: before)
    sequence += UInt64(report.inserted + report.updated)
    return report
  }

  /// Changes the model under `key`; nil where there is none.
  mutating func update<Model>(
    _ key: Entity.Key, _ mapper: some EntityMapper<Model, Entity>, as origin: ChangeOrigin,
    _ body: (inout Model) throws -> Void
  ) throws -> Model? {
    guard var binding, var entity = try entity(under: key),
      try mapper.change(&entity, under: key, as: origin, body)
    else { return nil }
    let record = try Self.record(of: entity, &binding)
    self.binding = binding
    let before = records
    let old = records.updateValue(record, forKey: key.encodedBytes)
    if old != record {
      try refuseEqualValues(since: before)
      log.note(key.encodedBytes, from: old, to: record)
      sequence += 1
    }
    return mapper.convert(entity)
  }

  /// Changes the models that a selection selects.
  mutating func update<Model>(
    _ selection: Selection, _ mapper: some EntityMapper<Model, Entity>, as origin: ChangeOrigin,
    _ body: (inout Model) throws -> Void
  ) throws -> SaveReport {
    var report = SaveReport()
    let (before, selected) = (records, try rows(selection, mapper))
    guard var binding else { return report }
    for (row, _) in selected {
      var entity = row.entity
      guard try mapper.change(&entity, under: entity.entityAccessorKey, as: origin, body) else {
        continue
      }
      let record = try Self.record(of: entity, &binding)
      let old = records.updateValue(record, forKey: row.key)
      log.note(row.key, from: old, to: record)
      if old == record { report.unchanged += 1 } else { report.updated += 1 }
    }
    self.binding = binding
    try refuseEqualValues(since: before)
    sequence += UInt64(report.updated)
    return report
  }

  /// Holds unique indexes as a store does, by looking at every record. Of several violations it finds
  /// the one that a store finds: what has changed is looked at in the order of its values and keys.
  ///
  /// - Parameter before: The records before the change.
  /// - Throws: ``StoreError/uniqueViolation(collection:index:value:key:otherKey:)``.
  private func refuseEqualValues(since before: [[UInt8]: [UInt8]]) throws {
    guard let binding else { return }
    for declaration in Entity.declaredIndexes where declaration.isUnique {
      let collection = binding.collection
      let definition = try IndexDefinition(declaration, in: collection.description)
      let index = try CollectionIndex(
        number: 0, IndexRecord(definition, .complete), in: collection.description, database: .main)
      let encoder = IndexEncoder(index, in: collection)
      var owners: [[UInt8]: [UInt8]] = [:]
      var changed: [(entry: [UInt8], value: [UInt8], key: [UInt8])] = []
      for (key, record) in records {
        let isKept = try before[key].map { try looksTheSame($0, record, key, to: encoder) } ?? false
        try reading(record, key) { record in
          // Long values are cut in a store's index, and have another order there.
          var entries: [[UInt8]] = []
          if !isKept {
            var bytes = OrderedBytes()
            encoder.encode(record, into: &bytes) { entry, _, _, bytes in
              entries.append([UInt8](bytes[entry]))
            }
          }
          var bytes = OrderedBytes()
          var place = 0
          encoder.encode(record, into: &bytes, limit: IndexEncoder.noLimit) {
            values, _, equalsNothing, bytes in
            defer { place += 1 }
            guard !equalsNothing else { return }
            let value = [UInt8](bytes[values])
            if isKept { owners[value] = key } else { changed.append((entries[place], value, key)) }
          }
        }
      }
      changed.sort {
        let (first, second) = $0.entry == $1.entry ? ($0.key, $1.key) : ($0.entry, $1.entry)
        return first.lexicographicallyPrecedes(second)
      }
      for (_, value, key) in changed {
        let owner = owners.updateValue(key, forKey: value)
        if let owner, owner != key { throw try violation(of: index, key, owner, in: collection) }
      }
    }
  }

  private func looksTheSame(
    _ old: [UInt8], _ new: [UInt8], _ key: [UInt8], to encoder: IndexEncoder
  ) throws -> Bool {
    if old == new { return true }
    return try reading(old, key) { old in
      try reading(new, key) { new in encoder.looksTheSame(old, new) }
    }
  }

  private func violation(
    of index: CollectionIndex, _ key: [UInt8], _ otherKey: [UInt8], in collection: Collection
  ) throws -> StoreError {
    let document = try records[key].map { try reading($0, key) { try DynamicDocument($0) } }
    return .uniqueViolation(
      collection: collection.name, index: index.name,
      value: document.map { index.text(of: $0) } ?? "",
      key: key.withUnsafeBytes { collection.keyKind.text(of: $0) },
      otherKey: otherKey.withUnsafeBytes { collection.keyKind.text(of: $0) })
  }

  mutating func delete(_ selection: Selection, unless isKept: ([UInt8]) -> Bool) throws -> Int {
    try selection.checkDepth()
    guard let binding else { return 0 }
    let evaluation = Evaluation(selection.filter, in: binding.collection)
    let deleted = try records.filter { key, record in
      try !isKept(key) && matches(evaluation, key, record)
    }
    for (key, record) in deleted {
      records[key] = nil
      log.note(key, from: record, to: nil)
    }
    sequence += UInt64(deleted.count)
    return deleted.count
  }

  mutating func delete(_ key: Entity.Key) -> Bool {
    guard let old = records.removeValue(forKey: key.encodedBytes) else { return false }
    log.note(key.encodedBytes, from: old, to: nil)
    sequence += 1
    return true
  }

  mutating func erase() -> Int {
    let count = records.count
    records = [:]
    (erasedBinding, binding) = (binding ?? erasedBinding, nil)
    if count > 0 {
      log.noteErased()
      sequence += 1
    }
    return count
  }

  /// - Parameter binding: Gets the fields that it lacks, where the type is a `Codable` one.
  static func record(
    of entity: Entity, _ binding: inout CollectionBinding
  ) throws -> [UInt8] {
    if let record = try record(of: entity, binding) { return record }
    binding = try binding.declaring([entity])
    guard let record = try record(of: entity, binding) else {
      preconditionFailure("fields of \(Entity.self) were declared and are lacking still")
    }
    return record
  }

  private static func record(
    of entity: Entity, _ binding: CollectionBinding
  ) throws -> [UInt8]? {
    let batch = try Batch.unlessUndeclared {
      try [entity].withUnsafeBufferPointer { try Batch($0, binding) }
    }
    return batch.map { batch in
      withExtendedLifetime(batch) { [UInt8](batch.entries[0].record) }
    }
  }
}

extension Evaluation {
  /// In the evaluated order; ties in that of the keys.
  func sorted<Entity>(
    _ matches: [InMemoryCollection<Entity>.Match]
  ) -> [InMemoryCollection<Entity>.Match] {
    matches.sorted {
      precedes($0.values, $1.values) ?? $0.key.lexicographicallyPrecedes($1.key)
    }
  }
}

extension DocumentKey {
  var encodedBytes: [UInt8] { withEncodedKey { [UInt8]($0) } }
}

extension Aggregate {
  /// Made from these entities, in this order: for repositories that keep them otherwise.
  ///
  /// - Throws: ``StoreError`` for an entity that cannot be written as a record, and what the
  ///   aggregate itself throws.
  public func value(of entities: some Sequence<Entity>) throws -> Result {
    try InMemoryCollection.aggregate(self, of: Array(entities))
  }
}
