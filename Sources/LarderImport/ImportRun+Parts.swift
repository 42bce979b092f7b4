internal import Larder

// A large file with a document in each line is cut into parts, which several threads read side by side.
//
// Measured with 1,000,000 contacts (330 MB of NDJSON, in memory) on two processors: the first import takes 1.07 s, and
// 1.94 with one thread that reads; the same import once more, with all unchanged, 0.6 s, and 1.05.

extension ImportRun {
  /// Threads at most: each holds a part, and what it makes of it.
  private static let mostThreads = 4

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
    _ parts: consuming LineParts, _ documents: inout ImportItems, _ step: inout ImportStep,
    _ file: borrowing ImportFile, part: Range<Double>
  ) throws {
    let current = TapeTrial.CurrentTerms()
    current.value = try step.terms(of: rehearsal)
    let source = PartSource(parts, options.limits)
    let makers = (0..<threadCount).map { _ in
      PartTrials(partReader(file.name, isRehearsal: true), current).tried
    }
    try WorkAhead.run(most: 2 * makers.count, take: source.next, makers: makers) { tried in
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
      let terms = try step.terms(of: rehearsal)
      if terms?.isSame(as: current.value) != true { current.value = terms }
      try tell(news(.reading, tried.part.end, file, report.documentCount, part: part))
    }
  }

  // MARK: The second pass

  /// The parts of a file all of which is to be saved by batches; nil where one thread has to read it.
  func parts(of file: borrowing ImportFile) throws(ImportError) -> PartSource? {
    // Keys that are made grow in the order in which the documents are read.
    guard hasLines, kept == nil, !options.makesKeys, mayDivide(file) else { return nil }
    let limit = LineParts.Limit(
      byteCount: max(options.batchByteCount, 1), lineCount: max(options.batchDocumentCount, 1))
    let parts = LineParts(
      try file.bytes(), behind: UnsafeBufferPointer(start: nil, count: 0), at: TextMark(), limit)
    return PartSource(parts, options.limits)
  }

  func forEachStep(
    of source: PartSource, _ file: String, in place: EncodingPlace,
    _ use: (ImportBatches.Step) throws -> Void
  ) throws {
    let makers = (0..<threadCount).map { _ in
      ImportBatches.Source(batches(partReader(file, isRehearsal: false), in: place)).step(of:)
    }
    var count = 0
    try WorkAhead.run(
      most: makers.count + 1, take: source.next, makers: makers
    ) { step in
      var step = step
      count += step.batch?.count ?? 0
      step.isLast = count == report.documentCount
      try use(step)
    }
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

  init(_ documents: consuming ImportItems, _ current: TapeTrial.CurrentTerms) {
    self.documents = documents
    self.current = current
  }

  func tried(_ part: LinePart) -> TriedPart {
    guard let terms = current.value else { return TriedPart(part: part, trial: nil) }
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
