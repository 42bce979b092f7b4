internal import Larder

// A large file with a document in each line is cut into parts, which several threads read side by side.
//
// Measured with 1,000,000 contacts (330 MB of NDJSON, in memory) on two processors: the first import takes 1.04 to
// 1.26 s, and 1.94 with one thread that reads; the same import once more, with all unchanged, 0.59 to 0.74 s, and 1.05.

extension ImportRun {
  /// Threads at most: each holds a part, and what it makes of it.
  private static let mostThreads = 4
  /// Larger batches are made by one thread, which tells of its progress in between.
  private static let mostBatchByteCount = 64 << 20

  private var threadCount: Int { min(rehearsal.threadCount, Self.mostThreads) }

  /// Whether several threads may read the file, if it has lines.
  func mayDivide(_ file: borrowing ImportFile) -> Bool {
    ImportPath.isDirect && threadCount > 1 && file.byteCount >= ImportPath.dividedByteCount
  }

  private func partReader(_ file: String, isRehearsal: Bool) -> ImportItems {
    items(
      JSONReader(ByteSource(bytes: [], name: file), shape: .lines, limits: options.limits),
      of: file, isRehearsal: isRehearsal)
  }

  // MARK: The first pass

  /// Tries the documents that `documents` has left.
  mutating func tryParts(
    _ parts: consuming LineParts, _ terms: TapeTrial.Terms, _ documents: inout ImportItems,
    _ step: inout ImportStep, _ file: borrowing ImportFile, part: Range<Double>
  ) throws {
    let current = TapeTrial.CurrentTerms(terms)
    let source = PartSource(parts, options.limits)
    let (usualByteCount, readByteCount) = (ImportPath.stepByteCount, documents.consumedByteCount)
    let makers = (0..<threadCount).map { _ in
      PartTrials(partReader(file.name, isRehearsal: true), current, usualByteCount).tried
    }
    try WorkAhead.run(
      most: 2 * makers.count * usualByteCount, weight: \.bytes.count,
      take: source.next, makers: makers
    ) { tried in
      try rehearse(&step, file.name)
      if let trial = tried.trial, step.take(trial, &rehearsal) {
        report.documentCount += trial.count
        report.sharedDocumentCount += trial.count
      } else {
        // One of them shows something new, or is refused.
        documents.begin(tried.part)
        while try advance(&documents, &step, file.name) {}
        try rehearse(&step, file.name)
      }
      current.value = try step.terms(of: rehearsal, replacing: current.value)
      let byteCount = max(tried.part.end, readByteCount)
      try tell(news(.reading, byteCount, file, report.documentCount, part: part))
    }
  }

  // MARK: The second pass

  /// The parts of a file all of which is to be saved by batches; nil where one thread has to read it.
  func parts(of file: borrowing ImportFile) throws(ImportError) -> PartSource? {
    // Keys that are made grow in the order in which the documents are read, and so do the numbers of those that are
    // left out.
    guard hasLines, kept == nil, !options.makesKeys, superseded.isEmpty, mayDivide(file),
      options.batchByteCount <= Self.mostBatchByteCount
    else { return nil }
    let limit = LineParts.Limit(
      byteCount: max(options.batchByteCount, 1), lineCount: max(options.batchDocumentCount, 1))
    return PartSource(
      LineParts(try file.bytes(), behind: [], at: TextMark(), limit), options.limits)
  }

  func forEachStep(
    of source: PartSource, _ file: String, in place: EncodingPlace,
    _ use: (ImportBatches.Step) throws -> Void
  ) throws -> Int {
    let makers = (0..<threadCount).map { _ in
      ImportBatches.Source(batches(partReader(file, isRehearsal: false), in: place)).step(of:)
    }
    var (count, dividedCount) = (0, 0)
    // Small batches count as much, so that each thread has one.
    let unit = max(options.batchByteCount, ImportPath.stepByteCount)
    try WorkAhead.run(
      most: (makers.count + 1) * unit, weight: { max($0.bytes.count, unit) },
      take: source.next, makers: makers
    ) { step in
      dividedCount += 1
      var step = step
      count += step.batch?.count ?? 0
      step.isLast = count == report.documentCount
      try use(step)
    }
    return dividedCount
  }
}

/// The parts of a file, for one thread at a time.
final class PartSource {
  private var parts: LineParts
  private let limits: JSONLimits

  init(_ parts: consuming LineParts, _ limits: JSONLimits) {
    self.parts = parts
    self.limits = limits.honoured
  }

  func next() -> LinePart? { parts.next(lineByteCount: limits.lineByteCount) }
}

/// A part, and what a thread has made of it; nil where its documents have to be tried one by one.
private struct TriedPart: Sendable {
  let part: LinePart
  let trial: TapeTrial?
}

/// What one thread tries.
private final class PartTrials {
  private var documents: ImportItems
  private let current: TapeTrial.CurrentTerms
  private let usualByteCount: Int

  init(
    _ documents: consuming ImportItems, _ current: TapeTrial.CurrentTerms, _ usualByteCount: Int
  ) {
    self.documents = documents
    self.current = current
    self.usualByteCount = usualByteCount
  }

  func tried(_ part: LinePart) -> TriedPart {
    // A line that takes much memory takes it once.
    guard let terms = current.value, part.bytes.count <= 8 * usualByteCount else {
      return TriedPart(part: part, trial: nil)
    }
    let trial = TapeTrial(terms)
    documents.begin(part)
    do {
      while try documents.advance() {
        guard let tape = documents.tape, trial.accepts(tape, documents.outsideKey) else {
          return TriedPart(part: part, trial: nil)
        }
      }
    } catch {
      // It is told where the documents before it have been tried.
      return TriedPart(part: part, trial: nil)
    }
    return TriedPart(part: part, trial: trial)
  }
}
