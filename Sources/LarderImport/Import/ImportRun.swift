internal import Larder

/// What was thrown where progress was told: the wish to stop.
struct ImportStop: Error {
  let reason: any Error
}

/// One import: once through the file, twice where more is to be saved than is kept, and seldom twice more
/// before, to find the kinds of its columns.
struct ImportRun {
  var rehearsal: SaveRehearsal
  let options: ImportOptions
  let progress: (StoreProgress) throws -> Void
  var report = ImportReport()
  /// The file's columns, where it is CSV.
  var table: CSVTable?
  /// What need not be read again.
  var kept: KeptBatches?
  /// The numbers of documents, from 0 on, that are left out for a later one with their key.
  var superseded: Set<Int> = []
  /// Whether the collection got its first unique index while the file was checked.
  var hasNewUniqueIndex = false
  /// Whether each document has a line of its own.
  var hasLines = false

  /// What one step of the first pass holds of the file.
  static let stepDocumentCount = 1_000
  /// So many names of fields, each in few documents, that those in the rest of a file can hardly have most of them.
  private static let hopelessNameCount = 8_192
  /// How much of the checking it is to find the kinds of columns.
  private static let inferringPart = 0.3
  /// How much it is to try the rows with kinds that are guessed; seldom does anything come behind it.
  private static let guessingPart = 0.9

  init(
    _ rehearsal: SaveRehearsal, options: ImportOptions,
    progress: @escaping (StoreProgress) throws -> Void
  ) {
    self.rehearsal = rehearsal
    self.options = options
    self.progress = progress
  }

  /// - Throws: As ``Larder/Store/importDocuments(from:into:key:clearBeforeSaving:options:progress:)``.
  mutating func run(_ source: ImportSource) throws -> ImportReport {
    let clock = ContinuousClock()
    let start = clock.now
    let file = try open(source)
    do {
      try check(file)
    } catch let stop as ImportStop {
      throw interrupted(stop.reason, total: nil)
    }
    report.byteCount = file.byteCount
    report.inferredFields = rehearsal.shape.summary
    // Only a save can tell whether a unique index refuses a document, and what is deleted before.
    if !options.isDryRun || rehearsal.hasUniqueIndex || rehearsal.clears { try save(file) }
    report.duration = clock.now - start
    return report
  }

  private func open(_ source: ImportSource) throws -> ImportFile {
    do {
      return try ImportFile(source, options) { byteCount in
        try tell(StoreProgress(.receiving, completed: byteCount, total: nil))
      }
    } catch let stop as ImportStop {
      throw interrupted(stop.reason, total: nil)
    }
  }

  /// - Throws: ``ImportStop``.
  func tell(_ news: StoreProgress) throws {
    do {
      try news.tell(progress)
    } catch {
      throw ImportStop(reason: error)
    }
  }

  func interrupted(_ reason: any Error, total: Int?) -> ImportInterrupted {
    ImportInterrupted(
      saved: report.saved, documentCount: savedDocumentCount, totalDocumentCount: total,
      reason: reason)
  }

  var savedDocumentCount: Int {
    report.saved.inserted + report.saved.updated + report.saved.unchanged
      + report.saved.duplicates
  }

  // MARK: The first pass

  /// Reads everything and saves nothing.
  private mutating func check(_ file: borrowing ImportFile) throws {
    if options.format.resolved(for: file.name) == .csv {
      try checkTable(file)
    } else {
      try checkDocuments(file)
    }
    try checkRules(file.name)
    try checkNames(file.name)
    try checkKeys(file)
    try file.checkUnchanged()
    try tell(news(.reading, file.byteCount, file, report.documentCount, part: 0..<1))
  }

  /// Tries all documents; once more where keys above `Int64.max` come behind smaller ones.
  private mutating func checkDocuments(_ file: borrowing ImportFile) throws {
    let before = (rehearsal, report)
    do {
      _ = try tryAll(file, part: 0..<1)
    } catch {
      guard rehearsal.needsUnsignedKeys else { throw error }
      (rehearsal, report) = before
      rehearsal.expectUnsignedKeys()
      _ = try tryAll(file, part: 0..<1)
    }
  }

  /// Tries all rows, with the kinds that the first ones show where only the whole file can tell them;
  /// where that goes wrong, once more with those of all rows.
  private mutating func checkTable(_ file: borrowing ImportFile) throws {
    table = try CSVTable(
      try file.bytes(), options, rehearsal,
      mostRows: ImportPath.isDirect ? ImportPath.guessRowCount : .max
    ) { byteCount, rowCount in
      try tell(news(.reading, byteCount, file, rowCount, part: 0..<Self.inferringPart))
    }
    guard table?.guess != nil else {
      let start = table?.isInferred == true && !ImportPath.isDirect ? Self.inferringPart : 0
      expectKeys()
      _ = try tryAll(file, part: start..<1)
      return
    }
    let before = (rehearsal, report)
    expectKeys()
    do {
      if try tryAll(file, part: 0..<Self.guessingPart) {
        table?.confirm()
        return
      }
    } catch let stop as ImportStop {
      throw stop
    } catch {
      // Whichever error is first in the file when its kinds are known is found below.
    }
    (rehearsal, report) = before
    let middle = Self.guessingPart + (1 - Self.guessingPart) * Self.inferringPart
    table = try CSVTable(try file.bytes(), options, rehearsal) { byteCount, rowCount in
      try tell(news(.reading, byteCount, file, rowCount, part: Self.guessingPart..<middle))
    }
    expectKeys()
    _ = try tryAll(file, part: middle..<1)
  }

  /// Tells the rehearsal what the column of the keys shows, which the first row alone might not.
  private mutating func expectKeys() {
    if table?.hasUnsignedKeys == true { rehearsal.expectUnsignedKeys() }
  }

  /// Tries all documents; false, and it ends, where the kinds of a table turn out to be others than was
  /// guessed.
  private mutating func tryAll(
    _ file: borrowing ImportFile, part: Range<Double>
  ) throws -> Bool {
    var documents = try reader(of: file, isRehearsal: true)
    var step = try ImportStep(
      rehearsal, rules: options.rules(isTable: table != nil), keeping: keptLimits)
    let stepByteCount = ImportPath.stepByteCount
    var stepEnd = (documentCount: Self.stepDocumentCount, byteCount: stepByteCount)
    while try advance(&documents, &step, file.name) {
      let byteCount = documents.consumedByteCount
      if report.documentCount >= stepEnd.documentCount || byteCount >= stepEnd.byteCount {
        if documents.isWrong { return false }
        try rehearse(&step, file.name)
        // Each step with new names costs what there are names: nobody waits for the end of a hopeless file.
        if let (names, _) = rehearsal.shape.sparseness, names > Self.hopelessNameCount {
          try checkNames(file.name, at: documents.position)
        }
        try tell(news(.reading, byteCount, file, report.documentCount, part: part))
        stepEnd.documentCount = report.documentCount + Self.stepDocumentCount
        stepEnd.byteCount = byteCount + stepByteCount
        if documents.areLines, mayDivide(file), let terms = try step.terms(of: rehearsal),
          let rest = documents.leaveParts(.init(byteCount: stepByteCount))
        {
          try tryParts(rest, terms, &documents, &step, file, part: part)
        }
      }
    }
    hasLines = documents.areLines
    if documents.isWrong { return false }
    try rehearse(&step, file.name)
    kept = try step.takeKept(rehearsal)
    return true
  }

  /// What is kept for the save; nil where there is none.
  private var keptLimits: KeptBatches.Limits? {
    // Keys that are made grow in the order in which the documents are read.
    guard !options.isDryRun, !options.makesKeys, ImportPath.keptByteCount > 0 else { return nil }
    return KeptBatches.Limits(
      byteCount: ImportPath.keptByteCount, batchDocumentCount: options.batchDocumentCount,
      batchByteCount: options.batchByteCount, comparesWithStore: !isAtOnce)
  }

  /// Reads the next document and tries it, at once or with others.
  mutating func advance(
    _ documents: inout ImportItems, _ step: inout ImportStep, _ file: String
  ) throws -> Bool {
    do {
      guard try documents.advance() else { return false }
      report.documentCount += 1
      let isTried = try step.add(&documents, &rehearsal)
      if isTried { return true }
    } catch {
      // What is wrong before it in the file is told first.
      try rehearse(&step, file)
      throw error
    }
    if step.isDue { try rehearse(&step, file) }
    return true
  }

  mutating func rehearse(_ step: inout ImportStep, _ file: String) throws {
    do {
      report.rehearsedDocumentCount += step.items.count
      try step.rehearse(&rehearsal)
    } catch let refusal as SaveRehearsal.Refusal {
      let item = step.items[refusal.index]
      let place = item.place(of: refusal.field)
      let found = place?.phrase ?? refusal.found
      throw ImportError(
        .value, file: file, position: place?.position ?? item.position,
        found: "\(found) in \(quoted(refusal.field))",
        expected: refusal.expected
          + (refusal.isMixed
            ? "; or that the field may hold any kind (`allowsMixedKinds`, `--mixed`)" : ""))
    }
  }

  /// - Throws: ``ImportError`` for a kind that was given to a field of which there is none.
  private func checkRules(_ file: String) throws(ImportError) {
    guard table == nil, report.documentCount > 0 else { return }
    for name in options.types.keys.sorted() {
      let path = FieldPath(name) ?? FieldPath(field: name)
      guard !rehearsal.shape.hasSeen(path.names) else { continue }
      throw fieldNamesRefused(
        file, found: "no field \(quoted(name)), whose type is declared",
        expected: "the way down to a field, such as `geo.lat`")
    }
  }

  /// - Throws: ``ImportError`` for documents with ever new names, each of which would take a place in every record.
  private func checkNames(
    _ file: String, at position: TextPosition = .start
  ) throws(ImportError) {
    guard let (names, average) = rehearsal.shape.sparseness else { return }
    throw fieldNamesRefused(
      file, at: position,
      found: "\(names) names of fields, of which a document has about \(average)",
      expected:
        "names that most documents have, as each takes a place in every record; put what has "
        + "ever new names into an object, as in `{\"id\": 1, \"values\": {...}}`")
  }

  private func fieldNamesRefused(
    _ file: String, at position: TextPosition = .start, found: String, expected: String
  ) -> ImportError {
    var error = ImportError(
      .shape, file: file, position: position, found: found, expected: expected)
    error.reason = .fieldNames
    return error
  }

  /// - Throws: ``ImportError`` for a key that stands twice.
  private mutating func checkKeys(_ file: borrowing ImportFile) throws {
    guard var keys = rehearsal.repeatedKeys() else { return }
    kept = nil  // Some of it is not to be saved.
    var documents = try reader(of: file, isRehearsal: true)
    var positions: [Int: TextPosition] = [:]
    var second: (document: ImportItem, first: Int)?
    var number = 0
    while let item = try documents.next() {
      if let earlier = keys.earlier(than: item.document, number: number) {
        superseded.insert(earlier.latest)
        second = second ?? (item, earlier.first)
      } else if second == nil {
        positions[number] = keys.mayRepeat ? item.position : nil
      }
      number += 1
    }
    report.repeatedKeyCount = superseded.count
    guard let second, options.repeatedKeys == .refused else { return }
    let key = second.document.document[rehearsal.keyField]
    let place = positions[second.first].map { ", as the document at \($0) has" } ?? ""
    throw ImportError(
      .duplicateKey, file: file.name,
      position: second.document.place(of: rehearsal.keyField)?.position
        ?? second.document.position,
      found: "the key \(quoted(key?.plainText ?? ""))\(place); "
        + "\(report.repeatedKeyCount) of \(number) documents have the key of one before them",
      expected:
        "a key of its own for each; or that the last one is taken (`repeatedKeys = .lastWins`, "
        + "`--repeated last`), or that keys are made (`makesKeys`, `--key -`)")
  }

  // MARK: Both

  func reader(
    of file: borrowing ImportFile, isRehearsal: Bool = false
  ) throws(ImportError) -> ImportItems {
    if let table {
      return ImportItems(
        try table.documents(try file.bytes(), isRehearsal: isRehearsal),
        makesKeys: options.makesKeys)
    }
    let documents = JSONReader(
      try file.bytes(), shape: options.shape, at: options.documentsAt?.names ?? [],
      limits: options.limits)
    return items(documents, of: file.name, isRehearsal: isRehearsal)
  }

  func items(
    _ documents: consuming JSONReader, of file: String, isRehearsal: Bool
  ) -> ImportItems {
    ImportItems(
      documents,
      DocumentConversion(
        file: file, keyField: rehearsal.keyField, keyKind: rehearsal.keyKind,
        place: rehearsal.shape.place, rules: options.rules(isTable: false),
        makesKeys: options.makesKeys, isRehearsal: isRehearsal))
  }

  func news(
    _ phase: StoreProgress.Phase, _ byteCount: Int, _ file: borrowing ImportFile,
    _ documentCount: Int, part: Range<Double> = 0..<1, keptPart: Double = 0
  ) -> StoreProgress {
    var (read, byteCount) = (file.fractionRead(byteCount), byteCount)
    if keptPart > 0 {
      // As if it were read again, too.
      byteCount += Int(Double(max(file.byteCount - byteCount, 0)) * keptPart)
      read += (1 - read) * keptPart
    }
    let done = part.lowerBound + read * (part.upperBound - part.lowerBound)
    let fraction = options.isDryRun ? done : (phase == .saving ? 1 + done : done) / 2
    return StoreProgress(
      phase, completed: byteCount, total: file.byteCount, fraction: min(fraction, 1),
      documentCount: documentCount)
  }
}
