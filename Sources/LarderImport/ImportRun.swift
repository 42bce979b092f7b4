internal import Larder

/// One import: twice through the file.
struct ImportRun {
  private var rehearsal: SaveRehearsal
  private let options: ImportOptions
  private let progress: (ImportProgress) -> Bool
  private var report = ImportReport()

  /// What one step of the first pass holds of the file.
  private static let stepDocumentCount = 1_000
  private static let stepByteCount = 1 << 20

  init(
    _ rehearsal: SaveRehearsal, options: ImportOptions,
    progress: @escaping (ImportProgress) -> Bool
  ) {
    self.rehearsal = rehearsal
    self.options = options
    self.progress = progress
  }

  /// - Throws: As ``Larder/Store/importDocuments(from:into:key:options:progress:)``.
  mutating func run(_ source: ImportSource) throws -> ImportReport {
    let clock = ContinuousClock()
    let start = clock.now
    let file = try open(source)
    do {
      try check(file)
    } catch is CancellationError {
      throw interrupted(CancellationError(), total: nil)
    }
    report.byteCount = file.byteCount
    report.inferredFields = rehearsal.shape.summary
    if !options.isDryRun { try save(file) }
    report.duration = clock.now - start
    return report
  }

  private func open(_ source: ImportSource) throws -> ImportFile {
    do {
      return try ImportFile(source) { byteCount in
        try tell(ImportProgress(stage: .receiving, byteCount: byteCount))
      }
    } catch is CancellationError {
      throw interrupted(CancellationError(), total: nil)
    }
  }

  private func tell(_ news: ImportProgress) throws {
    if Task.isCancelled || !progress(news) { throw CancellationError() }
  }

  private func interrupted(_ reason: any Error, total: Int?) -> ImportInterrupted {
    ImportInterrupted(
      saved: report.saved, documentCount: savedDocumentCount, totalDocumentCount: total,
      reason: reason)
  }

  private var savedDocumentCount: Int {
    report.saved.inserted + report.saved.updated + report.saved.unchanged
      + report.saved.duplicates
  }

  // MARK: The first pass

  /// Reads everything and saves nothing.
  private mutating func check(_ file: borrowing ImportFile) throws {
    var documents = try reader(of: file)
    var step: [JSONDocument] = []
    var stepStart = 0
    while let document = try documents.next() {
      step.append(document)
      let byteCount = documents.consumedByteCount
      if step.count >= Self.stepDocumentCount || byteCount - stepStart >= Self.stepByteCount {
        try rehearse(&step, file.name)
        try tell(news(.checking, byteCount, file, report.documentCount))
        stepStart = byteCount
      }
    }
    try rehearse(&step, file.name)
    try file.checkUnchanged()
    try tell(news(.checking, file.byteCount, file, report.documentCount))
  }

  private mutating func rehearse(_ step: inout [JSONDocument], _ file: String) throws {
    var conversion = conversion(file)
    var documents: [DynamicDocument] = []
    documents.reserveCapacity(step.count)
    do throws(ImportError) {
      for document in step {
        documents.append(try conversion.document(document))
        if conversion.keyKind == nil {
          conversion.keyKind = KeyKind(of: documents[0][rehearsal.keyField])
        }
      }
    } catch {
      // What stands before it in the file is told first.
      try rehearse(documents, of: step, file)
      throw error
    }
    try rehearse(documents, of: step, file)
    report.documentCount += step.count
    step.removeAll(keepingCapacity: true)
  }

  private mutating func rehearse(
    _ documents: [DynamicDocument], of step: [JSONDocument], _ file: String
  ) throws {
    do {
      try rehearsal.add(documents)
    } catch let refusal as SaveRehearsal.Refusal {
      let document = step[refusal.index]
      let member = document.member(at: refusal.field)
      throw ImportError(
        .value, file: file, position: member?.position ?? document.position,
        found: "\(member?.value.shortPhrase ?? refusal.found) in \(quoted(refusal.field))",
        expected: refusal.expected)
    }
  }

  // MARK: The second pass

  private mutating func save(_ file: borrowing ImportFile) throws {
    let store = rehearsal.collection.store
    let total = report.documentCount
    do {
      try rehearsal.declare()
      if options.atomically {
        report.saved = try store.write { scope in
          var saved = SaveReport()
          try forEachBatch(of: file) { batch in
            saved += try scope.save(batch, in: rehearsal.collection)
            return 0
          }
          try file.checkUnchanged()
          return saved
        }
      } else {
        var saved = SaveReport()
        defer { report.saved = saved }
        var count = 0
        try forEachBatch(of: file) { batch in
          saved += try store.write { try $0.save(batch, in: rehearsal.collection) }
          count += batch.count
          return count
        }
        try file.checkUnchanged()
      }
    } catch {
      throw interrupted(error, total: total)
    }
  }

  /// - Parameter body: Returns how many documents are committed.
  private func forEachBatch(
    of file: borrowing ImportFile, _ body: ([DynamicDocument]) throws -> Int
  ) throws {
    let conversion = conversion(file.name)
    var documents = try reader(of: file)
    var batch: [DynamicDocument] = []
    var batchStart = 0
    var committed = 0
    while let document = try documents.next() {
      batch.append(try conversion.document(document))
      let byteCount = documents.consumedByteCount
      if batch.count % Self.stepDocumentCount == 0 {
        try tell(news(.saving, byteCount, file, committed))
      }
      if batch.count >= options.batchDocumentCount
        || byteCount - batchStart >= options.batchByteCount
      {
        committed = try body(batch)
        batch.removeAll(keepingCapacity: true)
        batchStart = byteCount
        try tell(news(.saving, byteCount, file, committed))
      }
    }
    if !batch.isEmpty { committed = try body(batch) }
    // Everything is saved: a wish to stop comes too late.
    _ = progress(news(.saving, file.byteCount, file, committed))
  }

  // MARK: Both

  private func reader(of file: borrowing ImportFile) throws(ImportError) -> JSONDocuments {
    JSONDocuments(try file.bytes(), shape: options.shape, limits: options.limits)
  }

  private func conversion(_ file: String) -> DocumentConversion {
    DocumentConversion(
      file: file, keyField: rehearsal.keyField, keyKind: rehearsal.keyKind,
      shape: rehearsal.shape)
  }

  private func news(
    _ stage: ImportProgress.Stage, _ byteCount: Int, _ file: borrowing ImportFile,
    _ documentCount: Int
  ) -> ImportProgress {
    let part = file.byteCount > 0 ? Double(byteCount) / Double(file.byteCount) : 1
    let fraction = options.isDryRun ? part : (stage == .saving ? 1 + part : part) / 2
    return ImportProgress(
      stage: stage, byteCount: byteCount, totalByteCount: file.byteCount,
      documentCount: documentCount, fraction: min(fraction, 1))
  }
}
