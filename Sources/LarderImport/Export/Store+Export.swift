public import Larder

extension Store {
  /// Writes the documents that a query selects, in its order; without one, in the order of keys.
  ///
  /// ```swift
  /// try store.export(Contact.where { $0.city == "Oslo" }, as: .csv, to: .file(url))
  /// ```
  /// All are of one moment. What is written, imported into a store that has declared the type, gives
  /// equal documents, and exported from there the same bytes. Memory holds a chunk of the file,
  /// whatever its size; of a query with an order also what every document is sorted by. Large
  /// collections are read by several threads, each of which holds some megabytes of text until its turn to
  /// write them comes (`StoreOptions.readThreadCount`).
  ///
  /// - Parameter progress: Told now and then how many documents were made text; what it throws stops it, as
  ///   does cancelling the task that it runs in.
  /// - Throws: ``ExportError`` when the target cannot be written; `StoreError`, also for a damaged
  ///   document; what `progress` throws; `CancellationError`. A file that was there is as it was then, and nothing is left
  ///   beside it; a pipe may have got a part.
  @discardableResult
  public func export<Entity: Document>(
    _ query: Query<Entity>, as format: ExportFormat, to target: ExportTarget,
    options: ExportOptions = ExportOptions(), progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> ExportReport {
    try export(
      Entity.schema.name, Entity.schema.fields.map(\.name), format, target, options, progress
    ) { snapshot, run in
      try run.write {
        try snapshot.inTurns(query, $0)
      } _: {
        try snapshot.forEachRecord(query, $0)
      }
    }
  }

  /// Writes the documents of a collection that a query selects, whatever their type; otherwise as
  /// ``export(_:as:to:options:progress:)``.
  ///
  /// ```swift
  /// try store.export(
  ///   collection: "contacts", .where { $0.city == "Oslo" }, as: .ndjson, to: .standardOutput)
  /// ```
  /// - Throws: As there; `DynamicQueryError` for a query that does not fit the collection's fields.
  @discardableResult
  public func export(
    collection: String, _ query: DynamicQuery = DynamicQuery(), as format: ExportFormat,
    to target: ExportTarget, options: ExportOptions = ExportOptions(),
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> ExportReport {
    let name = self.collection(collection).name
    return try export(name, [], format, target, options, progress) { snapshot, run in
      try run.write {
        try snapshot.inTurns(query, in: name, $0)
      } _: {
        try snapshot.forEachRecord(query, in: name, $0)
      }
    }
  }

  /// Writes the documents that a query selects to a file, off the caller's actor; otherwise as the
  /// synchronous one.
  ///
  /// - Throws: As there.
  @concurrent @discardableResult
  public func export<Entity: Document>(
    _ query: Query<Entity>, as format: ExportFormat, to target: ExportTarget,
    options: ExportOptions = ExportOptions()
  ) async throws -> ExportReport {
    try export(query, as: format, to: target, options: options, progress: { _ in })
  }

  /// - Parameters:
  ///   - fieldNames: What a table has as columns where the collection does not exist yet.
  ///   - write: Gives the documents of a snapshot to an export.
  private func export(
    _ collection: String, _ fieldNames: [String], _ format: ExportFormat, _ target: ExportTarget,
    _ options: ExportOptions, _ progress: (StoreProgress) throws -> Void,
    _ write: (borrowing Snapshot, ExportRun) throws -> ExportReport
  ) throws -> ExportReport {
    var options = options
    options.delimiter = options.delimiter ?? target.delimiter
    return try withoutActuallyEscaping(progress) { progress in
      try read { snapshot in
        let place = snapshot.place(of: collection)
        let form = ExportForm(
          format, options, fieldNames: place?.fieldNames ?? fieldNames, place)
        let sink = try ExportSink(target, form)
        return try write(snapshot, ExportRun(form: form, sink: sink, progress: progress))
      }
    }
  }
}
