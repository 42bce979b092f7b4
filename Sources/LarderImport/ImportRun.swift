internal import Larder

/// One import: twice through the file, and once more before to find the kinds of its columns.
struct ImportRun {
  private var rehearsal: SaveRehearsal
  private let options: ImportOptions
  private let progress: (ImportProgress) -> Bool
  private var report = ImportReport()
  /// The file's columns, where it is CSV.
  private var table: CSVTable?

  /// What one step of the first pass holds of the file.
  private static let stepDocumentCount = 1_000
  private static let stepByteCount = 1 << 20
  /// How much of the checking it is to find the kinds of columns.
  private static let inferringPart = 0.3

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
    // Only a save can tell whether a unique index refuses a document.
    if !options.isDryRun || rehearsal.hasUniqueIndex { try save(file) }
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
    if options.format.resolved(for: file.name) == .csv {
      table = try CSVTable(try file.bytes(), options, rehearsal) { byteCount, rowCount in
        try tell(news(.checking, byteCount, file, rowCount, part: 0..<Self.inferringPart))
      }
    }
    let part = table?.isInferred == true ? Self.inferringPart..<1 : 0..<1
    var documents = try reader(of: file)
    var step: [ImportItem] = []
    var stepStart = 0
    while let item = try next(of: &documents, after: &step, file.name) {
      step.append(item)
      let byteCount = documents.consumedByteCount
      if step.count >= Self.stepDocumentCount || byteCount - stepStart >= Self.stepByteCount {
        try rehearse(&step, file.name)
        try tell(news(.checking, byteCount, file, report.documentCount, part: part))
        stepStart = byteCount
      }
    }
    try rehearse(&step, file.name)
    try checkRules(file.name)
    try checkKeys(file)
    try file.checkUnchanged()
    try tell(news(.checking, file.byteCount, file, report.documentCount, part: part))
  }

  private mutating func next(
    of documents: inout ImportItems, after step: inout [ImportItem], _ file: String
  ) throws -> ImportItem? {
    do {
      return try documents.next()
    } catch {
      // What is wrong before it in the file is told first.
      try rehearse(&step, file)
      throw error
    }
  }

  private mutating func rehearse(_ step: inout [ImportItem], _ file: String) throws {
    do {
      try rehearsal.add(step.map(\.document))
    } catch let refusal as SaveRehearsal.Refusal {
      let item = step[refusal.index]
      let place = item.place(of: refusal.field)
      throw ImportError(
        .value, file: file, position: place?.position ?? item.position,
        found: "\(place?.phrase ?? refusal.found) in \(quoted(refusal.field))",
        expected: refusal.expected
          + (refusal.isMixed ? "; or that the field may hold any kind (`--mixed`)" : ""))
    }
    report.documentCount += step.count
    step.removeAll(keepingCapacity: true)
  }

  /// - Throws: ``ImportError`` for a kind that was given to a field of which there is none.
  private func checkRules(_ file: String) throws(ImportError) {
    guard table == nil, report.documentCount > 0 else { return }
    for name in options.types.keys.sorted() {
      let path = FieldPath(name) ?? FieldPath(field: name)
      guard !rehearsal.shape.hasSeen(path.names) else { continue }
      throw ImportError(
        .shape, file: file, position: .start,
        found: "no field \(quoted(name)), whose type is declared",
        expected: "the way down to a field, such as `geo.lat`")
    }
  }

  /// - Throws: ``ImportError`` for a key that stands twice.
  private mutating func checkKeys(_ file: borrowing ImportFile) throws {
    guard var keys = rehearsal.repeatedKeys() else { return }
    var documents = try reader(of: file)
    var positions: [Int: TextPosition] = [:]
    var second: (document: ImportItem, first: Int)?
    var number = 0
    while let item = try documents.next() {
      if let earlier = keys.earlier(than: item.document, number: number) {
        report.repeatedKeyCount += 1
        second = second ?? (item, earlier)
      } else if second == nil {
        positions[number] = keys.mayRepeat ? item.position : nil
      }
      number += 1
    }
    guard let second, options.repeatedKeys == .refused else { return }
    let key = second.document.document[rehearsal.keyField]
    let place = positions[second.first].map { ", as the document at \($0) has" } ?? ""
    throw ImportError(
      .duplicateKey, file: file.name,
      position: second.document.place(of: rehearsal.keyField)?.position
        ?? second.document.position,
      found: "the key \(quoted(key?.plainText ?? ""))\(place); "
        + "\(report.repeatedKeyCount) of \(number) documents have the key of one before them",
      expected: "a key of its own for each; or that the last one is taken (`--repeated last`), or "
        + "that keys are made (`--key -`)")
  }

  // MARK: The second pass

  /// What ends a dry run that had to save.
  private struct Rehearsed: Error {}

  private mutating func save(_ file: borrowing ImportFile) throws {
    let total = report.documentCount
    // Keys that are made are new ones each time: an import that was interrupted could not be repeated.
    let isAtOnce = options.atomically || options.makesKeys || rehearsal.hasUniqueIndex
    do {
      if isAtOnce {
        report.saved = try saveAtOnce(file)
      } else {
        try rehearsal.declare()
        try saveInBatches(file)
      }
    } catch is Rehearsed {
      return
    } catch let refusal as ImportError where isAtOnce && refusal.kind == .value {
      throw refusal  // Nothing was saved.
    } catch {
      throw interrupted(error, total: total)
    }
  }

  private func saveAtOnce(_ file: borrowing ImportFile) throws -> SaveReport {
    try rehearsal.write(as: .imported) { scope in
      var saved = SaveReport()
      try forEachBatch(of: file) { batch, positions in
        do {
          saved += try scope.save(batch, in: rehearsal.collection)
        } catch let error as StoreError {
          throw located(error, batch, positions, file.name)
        }
        return 0
      }
      try file.checkUnchanged()
      if options.isDryRun { throw Rehearsed() }
      return saved
    }
  }

  private mutating func saveInBatches(_ file: borrowing ImportFile) throws {
    let store = rehearsal.collection.store
    var saved = SaveReport()
    defer { report.saved = saved }
    var count = 0
    try forEachBatch(of: file) { batch, _ in
      saved += try store.write(as: .imported) {
        try $0.save(batch, in: rehearsal.collection)
      }
      count += batch.count
      return count
    }
    try file.checkUnchanged()
  }

  /// A refusal with the place of the document that it is for.
  private func located(
    _ error: StoreError, _ batch: [DynamicDocument], _ positions: [TextPosition], _ file: String
  ) -> any Error {
    guard case .uniqueViolation(let collection, let index, let value, let key, let other) = error,
      let place = rehearsal.index(of: key, in: batch)
    else { return error }
    return ImportError(
      .value, file: file, position: positions[place],
      found: "\(value) in the unique index `\(index)`, as \(collection) \(other) has",
      expected: "another value in \(collection) \(key)")
  }

  /// - Parameter body: Returns how many documents are committed.
  private func forEachBatch(
    of file: borrowing ImportFile, _ body: ([DynamicDocument], [TextPosition]) throws -> Int
  ) throws {
    var documents = try reader(of: file)
    var batch: [DynamicDocument] = []
    var positions: [TextPosition] = []
    var batchStart = 0
    var committed = 0
    while let item = try documents.next() {
      batch.append(item.document)
      positions.append(item.position)
      let byteCount = documents.consumedByteCount
      if batch.count % Self.stepDocumentCount == 0 {
        try tell(news(.saving, byteCount, file, committed))
      }
      if batch.count >= options.batchDocumentCount
        || byteCount - batchStart >= options.batchByteCount
      {
        committed = try body(try rehearsal.asTyped(batch), positions)
        batch.removeAll(keepingCapacity: true)
        positions.removeAll(keepingCapacity: true)
        batchStart = byteCount
        try tell(news(.saving, byteCount, file, committed))
      }
    }
    if !batch.isEmpty { committed = try body(try rehearsal.asTyped(batch), positions) }
    // Everything is saved: a wish to stop comes too late.
    _ = progress(news(.saving, file.byteCount, file, committed))
  }

  // MARK: Both

  private func reader(of file: borrowing ImportFile) throws(ImportError) -> ImportItems {
    if let table { return try ImportItems(table.documents(try file.bytes())) }
    let documents = JSONDocuments(
      try file.bytes(), shape: options.shape, limits: options.limits)
    return ImportItems(
      documents,
      DocumentConversion(
        file: file.name, keyField: rehearsal.keyField, keyKind: rehearsal.keyKind,
        place: rehearsal.shape.place, rules: options.rules(isTable: false),
        makesKeys: options.makesKeys))
  }

  private func news(
    _ stage: ImportProgress.Stage, _ byteCount: Int, _ file: borrowing ImportFile,
    _ documentCount: Int, part: Range<Double> = 0..<1
  ) -> ImportProgress {
    let read = file.byteCount > 0 ? Double(byteCount) / Double(file.byteCount) : 1
    let done = part.lowerBound + read * (part.upperBound - part.lowerBound)
    let fraction = options.isDryRun ? done : (stage == .saving ? 1 + done : done) / 2
    return ImportProgress(
      stage: stage, byteCount: byteCount, totalByteCount: file.byteCount,
      documentCount: documentCount, fraction: min(fraction, 1))
  }
}
