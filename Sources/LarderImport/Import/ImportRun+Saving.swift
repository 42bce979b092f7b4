internal import Larder

// The second pass: the documents that were not kept are read again, and all are saved.

extension ImportRun {
  /// What ends a dry run that had to save.
  private struct Rehearsed: Error {}

  /// Whether everything is saved in one transaction.
  var isAtOnce: Bool {
    // Keys that are made are new ones each time: an import that was interrupted could not be repeated.
    options.atomically || options.makesKeys || refusesDuplicates || rehearsal.clears
  }

  private var refusesDuplicates: Bool { rehearsal.hasUniqueIndex || hasNewUniqueIndex }

  mutating func save(_ file: borrowing ImportFile) throws {
    let total = report.documentCount
    if !isAtOnce, rehearsal.mayBeRefused {
      // It has come meanwhile, and what is kept was made for batches.
      (hasNewUniqueIndex, kept) = (true, nil)
    }
    // If the store cannot be read, the save says why.
    if (try? kept?.holds(in: rehearsal.collection.store)) == false { kept = nil }
    report.secondReadCount = kept?.start ?? total
    do {
      if isAtOnce {
        report.saved = try saveAtOnce(file)
      } else {
        try rehearsal.declare()
        try saveInBatches(file)
      }
      report.saved.duplicates += superseded.count
    } catch is Rehearsed {
      // As after any other import.
    } catch let refusal as ImportError where isAtOnce && refusal.kind == .value {
      throw refusal  // Nothing was saved.
    } catch {
      throw interrupted((error as? ImportStop)?.reason ?? error, total: total)
    }
    // Everything is saved: a wish to stop comes too late.
    let committed = isAtOnce ? 0 : savedDocumentCount
    try? progress(news(.saving, file.byteCount, file, committed, keptPart: 1))
  }

  private mutating func saveAtOnce(_ file: borrowing ImportFile) throws -> SaveReport {
    var (directCount, dividedCount) = (0, 0)
    defer {
      report.directDocumentCount = directCount
      report.dividedBatchCount = dividedCount
    }
    return try rehearsal.write(as: .imported) { scope in
      var saved = SaveReport()
      directCount = 0
      // Nobody has told what the keys of no documents are.
      guard report.documentCount > 0 || rehearsal.clears && scope.hasCollection(of: rehearsal)
      else {
        try file.checkUnchanged()
        return saved
      }
      let place = try scope.encodingPlace(of: rehearsal)
      // Made once more, they would be others.
      var madeKeys: [String] = []
      do {
        let deleted = try scope.saveTogether(of: rehearsal) { save in
          dividedCount = try forEachBatch(of: file, in: place) { batch in
            if options.makesKeys, refusesDuplicates { madeKeys += batch.keyTexts }
            saved += try save(batch)
            directCount += batch.directCount
            return 0
          }
        }
        saved.deleted += deleted
      } catch let error as StoreError {
        // Nobody else reads the file any more.
        throw try located(error, file, in: place, madeKeys)
      }
      try file.checkUnchanged()
      if options.isDryRun { throw Rehearsed() }
      return saved
    }
  }

  private mutating func saveInBatches(_ file: borrowing ImportFile) throws {
    let store = rehearsal.collection.store
    var saved = SaveReport()
    saved.unchanged = kept?.unchangedCount ?? 0
    var (count, directCount) = (saved.unchanged, saved.unchanged)
    defer {
      report.saved = saved
      report.directDocumentCount = directCount
    }
    // Nobody has told what the keys of no documents are.
    guard report.documentCount > 0 else { return try file.checkUnchanged() }
    let place = try rehearsal.encodingPlace()
    report.dividedBatchCount = try forEachBatch(of: file, in: place) { batch in
      saved += try store.write(as: .imported) { try $0.save(batch, of: rehearsal) }
      count += batch.count
      directCount += batch.directCount
      return count
    }
    try file.checkUnchanged()
  }

  /// A refusal with the place of the document that it is for. The file is read once more for it.
  private func located(
    _ error: StoreError, _ file: borrowing ImportFile, in encoding: EncodingPlace,
    _ madeKeys: [String]
  ) throws -> any Error {
    guard case .uniqueViolation(let collection, let index, let value, let key, let other) = error
    else { return error }
    var (found, first) = (madeKeys.lastIndex(of: key), 0)
    if !options.makesKeys {
      _ = try forEachBatch(of: file, in: encoding, tells: false) { batch in
        if let place = batch.index(of: key) { found = first + place }
        first += batch.count
        return 0
      }
    }
    guard let found else { return error }
    var documents = try reader(of: file)
    var (number, left) = (0, found)
    while left >= 0, try documents.advance() {
      if !superseded.contains(number) { left -= 1 }
      number += 1
    }
    return ImportError(
      .value, file: file.name, position: documents.position,
      found: "\(value) in the unique index `\(index)`, as \(collection) \(other) has",
      expected: "another value in \(collection) \(key)")
  }

  func batches(_ documents: consuming ImportItems, in place: EncodingPlace) -> ImportBatches {
    ImportBatches(
      documents,
      TapeEncoder(rehearsal, in: place, rules: options.rules(isTable: table != nil), .json),
      rehearsal, options, kept, without: superseded)
  }

  /// - Parameters:
  ///   - tells: Whether progress is told.
  ///   - body: Returns how many documents are committed.
  /// - Returns: How many batches threads of their own have made.
  private func forEachBatch(
    of file: borrowing ImportFile, in place: EncodingPlace, tells: Bool = true,
    _ body: (RecordBatch) throws -> Int
  ) throws -> Int {
    var committed = 0
    func use(_ step: ImportBatches.Step) throws {
      if let batch = step.batch { committed = try body(batch) }
      // Behind the last, everything is saved.
      guard !step.isLast, tells else { return }
      try tell(news(.saving, step.byteCount, file, committed, keptPart: step.keptPart))
    }
    var dividedCount = 0
    if let parts = try parts(of: file) {
      dividedCount = try forEachStep(of: parts, file.name, in: place, use)
    } else if file.byteCount < ImportPath.aheadByteCount {
      var batches = batches(try reader(of: file), in: place)
      while let step = try batches.next() { try use(step) }
    } else {
      let ahead = ImportBatches.Source(batches(try reader(of: file), in: place))
      try WorkAhead.run(most: 2, counts: { $0.batch != nil }, make: ahead.next, use: use)
    }
    return dividedCount
  }
}
