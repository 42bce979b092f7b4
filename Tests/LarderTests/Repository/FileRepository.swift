import Foundation
import Larder
import LarderLMDB

/// A repository that is no part of Larder: every value in one file of JSON, read and written whole. It
/// uses what the library has public, and so shows that this is enough.
final class FileRepository<Model: Codable & Identifiable & Sendable>: Repository
where Model.ID: DocumentKey {
  typealias Entity = CodableDocument<Model>

  private let file: URL
  private let state = Locked(FileState())

  /// What is known of changes besides the file.
  private struct FileState {
    /// The number of the last change, and of the last one of each origin.
    var sequence: UInt64 = 0
    var lastChanges: [ChangeOrigin: UInt64] = [:]
    var watchers: [UUID: AsyncStream<Void>.Continuation] = [:]
  }

  init(_ file: URL) { self.file = file }

  private func stored() throws -> [Model.ID: Model] {
    guard let data = try? Data(contentsOf: file) else { return [:] }  // Nothing was saved yet.
    let models = try JSONDecoder().decode([Model].self, from: data)
    return Dictionary(uniqueKeysWithValues: models.map { ($0.id, $0) })
  }

  /// Changes what is stored; nothing where `body` throws.
  private func change<Result>(
    as origin: ChangeOrigin, _ body: (inout [Model.ID: Model]) throws -> (Result, changes: Int)
  ) throws -> Result {
    let (result, watchers) = try state.withLock { state in
      var models = try stored()
      let (result, changes) = try body(&models)
      if changes > 0 {
        try JSONEncoder().encode(Array(models.values)).write(to: file, options: .atomic)
        state.sequence += UInt64(changes)
        state.lastChanges[origin] = state.sequence
      }
      return (result, state.watchers.values)
    }
    for watcher in watchers { watcher.yield() }
    return result
  }

  private func bytes(_ model: Model) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(model)
  }
}

// MARK: Changing

extension FileRepository {
  func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    try query?.checkMatchesWhole("clearBeforeSaving")
    return try change(as: origin) { stored in
      var report = SaveReport()
      var batch: [Model.ID: Model] = [:]
      for model in models {
        var new = model
        if let old = stored[model.id] {
          switch policy {
          case .replace: break
          case .keepExisting: new = old
          case .merge(let merge):
            new = try merge(old, model)
            try checkKey(new, model.id)
          }
        }
        batch[model.id] = nil  // The dictionary would keep the key that it was first given.
        batch[model.id] = new
      }
      report.duplicates = models.count - batch.count
      _ = try Entity.all.results(of: models.map(Entity.init))  // Refuses keys and values.
      if let query {
        for entity in try query.results(of: stored.values.map(Entity.init))
        where batch[entity.id] == nil {
          stored[entity.id] = nil
          report.deleted += 1
        }
      }
      for (id, model) in batch {
        if let old = stored.removeValue(forKey: id) {
          if try bytes(old) == bytes(model) { report.unchanged += 1 } else { report.updated += 1 }
        } else {
          report.inserted += 1
        }
        stored[id] = model
      }
      return (report, changes: report.changed)
    }
  }

  func update(
    _ key: Model.ID, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> Model? {
    try change(as: origin) { stored in
      guard let old = stored.removeValue(forKey: key) else { return (nil, changes: 0) }
      var model = old
      try body(&model)
      try checkKey(model, key)
      stored[model.id] = model
      return (model, changes: try bytes(old) == bytes(model) ? 0 : 1)
    }
  }

  func update(
    _ query: Query<Entity>, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport {
    try change(as: origin) { stored in
      var report = SaveReport()
      for entity in try query.results(of: stored.values.map(Entity.init)) {
        var model = entity.model
        try body(&model)
        try checkKey(model, entity.id)
        if try bytes(entity.model) == bytes(model) {
          report.unchanged += 1
        } else {
          report.updated += 1
        }
        stored[model.id] = model
      }
      return (report, changes: report.changed)
    }
  }

  private func checkKey(_ model: Model, _ key: Model.ID) throws {
    guard model.id != key else { return }
    throw StoreError.keyChanged(
      collection: Entity.schema.name, key: "\"\(key)\"", found: "\"\(model.id)\"")
  }

  func entityAccessorKey(_ model: Model) -> Model.ID { model.id }

  func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try query.checkMatchesWhole("delete")
    return try change(as: origin) { stored in
      let deleted = try query.results(of: stored.values.map(Entity.init))
      for entity in deleted { stored[entity.id] = nil }
      return (deleted.count, changes: deleted.count)
    }
  }

  func delete(keys: [Model.ID], as origin: ChangeOrigin) throws -> Int {
    try change(as: origin) { stored in
      let count = keys.count { stored.removeValue(forKey: $0) != nil }
      return (count, changes: count)
    }
  }

  func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try delete(Entity.all, as: origin)
  }
}

// MARK: Changing without holding up the caller's actor

extension FileRepository {
  @concurrent func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) async throws -> SaveReport {
    try unlessCancelled {
      try save(models, clearBeforeSaving: query, onConflict: policy, as: origin)
    }
  }

  @concurrent func update(
    _ key: Model.ID, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model? {
    try unlessCancelled { try update(key, as: origin, body) }
  }

  @concurrent func update(
    _ query: Query<Entity>, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> SaveReport {
    try unlessCancelled { try update(query, as: origin, body) }
  }

  @concurrent func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int {
    try unlessCancelled { try delete(query, as: origin) }
  }

  @concurrent func delete(keys: [Model.ID], as origin: ChangeOrigin) async throws -> Int {
    try unlessCancelled { try delete(keys: keys, as: origin) }
  }

  @concurrent func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    try unlessCancelled { try eraseAllData(as: origin) }
  }

  private func unlessCancelled<Result>(_ body: () throws -> Result) throws -> Result {
    try Task.checkCancellation()
    return try body()
  }
}

// MARK: Reading

extension FileRepository {
  private var entities: [Entity] {
    get throws { try state.withLock { _ in try stored().values.map(Entity.init) } }
  }

  func get(_ key: Model.ID) throws -> Model? { try get(keys: [key]).first }

  func get(keys: [Model.ID]) throws -> [Model] {
    let models = try state.withLock { _ in try stored() }
    return keys.compactMap { models[$0] }
  }

  func fetch(_ query: Query<Entity>) throws -> [Model] {
    try query.results(of: entities).map(\.model)
  }

  func count(_ query: Query<Entity>) throws -> Int { try query.results(of: entities).count }

  func page(_ query: Query<Entity>, after cursor: PageCursor?) throws -> Page<Model> {
    let page = try query.page(of: entities, after: cursor)
    return Page(models: page.models.map(\.model), next: page.next)
  }

  func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>
  ) throws -> Result {
    try aggregate.value(of: query.results(of: entities))
  }
}

// MARK: Watching

extension FileRepository {
  func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Model>> {
    WatchSequence { [self] in
      let id = UUID()
      let (signals, signal) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
      state.withLock { $0.watchers[id] = signal }
      signal.onTermination = { [self] _ in state.withLock { $0.watchers[id] = nil } }
      signal.yield()
      let seen = Locked<(sequence: UInt64, models: [Model])?>(nil)
      return { [self] in
        for await _ in signals {
          if let change = try next(query, ignoring: ignored, seen) { return change }
        }
        return nil
      }
    }
  }

  /// How the result differs from what a watcher has seen; nil where there is no news.
  private func next(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>,
    _ seen: Locked<(sequence: UInt64, models: [Model])?>
  ) throws -> ResultChange<Model>? {
    let (now, entities) = try state.withLock { state in
      (state, try stored().values.map(Entity.init))
    }
    let last = seen.withLock { $0 }
    let isNews = now.lastChanges.contains {
      !ignored.contains($0.key) && $0.value > (last?.sequence ?? 0)
    }
    if last != nil, !isNews { return nil }
    let models = try query.results(of: entities).map(\.model)
    seen.withLock { $0 = (now.sequence, models) }
    guard let last else { return .initial(Rows(models), sequence: now.sequence) }

    let difference = models.map(\.id).difference(from: last.models.map(\.id))
    let old = Dictionary(uniqueKeysWithValues: last.models.map { ($0.id, $0) })
    var removals: [(offset: Int, destination: Int?)] = []
    var insertions: [(offset: Int, model: Model, origin: Int?)] = []
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removals.append((offset, nil))
      case .insert(let offset, _, _): insertions.append((offset, models[offset], nil))
      }
    }
    let inserted = Set(insertions.map(\.offset))
    let updates = try models.enumerated()
      .filter { offset, model in
        guard !inserted.contains(offset), let old = old[model.id] else { return false }
        return try bytes(old) != bytes(model)
      }
      .map { (offset: $0.offset, model: $0.element) }
    if removals.isEmpty, insertions.isEmpty, updates.isEmpty { return nil }
    return .update(
      ResultDifference(
        removals: removals, insertions: insertions, updates: updates, sequence: now.sequence))
  }
}
