internal import Larder

/// The documents of a file as batches that are ready to be saved.
struct ImportBatches: ~Copyable {
  private var documents: ImportItems
  private var encoder: TapeEncoder
  private let rehearsal: SaveRehearsal
  private let options: ImportOptions
  /// Whether documents are encoded only as a type has read them.
  private let isTyped: Bool
  private var untyped: [DynamicDocument] = []
  private var start = 0
  private var isAtEnd = false
  private var readCount = 0
  private let kept: KeptBatches?
  /// The numbers of documents that are left out.
  private let superseded: Set<Int>
  /// How many of what was kept were handed over.
  private var keptCount = 0

  /// - Parameters:
  ///   - documents: Those that `rehearsal` has tried, from the first on.
  ///   - kept: What need not be read again.
  ///   - superseded: The numbers of documents, from 0 on, that are left out.
  init(
    _ documents: consuming ImportItems, _ encoder: consuming TapeEncoder,
    _ rehearsal: SaveRehearsal, _ options: ImportOptions, _ kept: KeptBatches?,
    without superseded: Set<Int>
  ) {
    self.kept = kept
    self.superseded = superseded
    self.documents = documents
    self.encoder = encoder
    self.rehearsal = rehearsal
    self.options = options
    isTyped = rehearsal.readsText
  }

  /// The same for one other thread.
  final class Source {
    private var batches: ImportBatches

    init(_ batches: consuming ImportBatches) { self.batches = batches }

    func next() throws -> Step? { try batches.next() }

    func step(of part: LinePart) throws -> Step { try batches.step(of: part) }
  }

  /// A batch, or nil where there is only something to tell.
  struct Step: Sendable {
    let batch: RecordBatch?
    /// How many bytes of the file were read.
    let byteCount: Int
    /// How much of what need not be read again this is the end of, from 0 to 1.
    var keptPart = 0.0
    var isLast: Bool
  }

  /// The documents of a part as one batch.
  ///
  /// - Throws: As ``next()``.
  private mutating func step(of part: LinePart) throws -> Step {
    documents.begin(part)
    while try documents.advance() { try add() }
    return Step(batch: try takeLastBatch(), byteCount: part.end, isLast: false)
  }

  /// The next step; nil behind the last.
  ///
  /// - Throws: ``ImportError``; `StoreError` for a document that cannot be stored.
  mutating func next() throws -> Step? {
    if isAtEnd { return try nextKept() }
    while readCount < kept?.start ?? .max, try documents.advance() {
      readCount += 1
      if superseded.isEmpty || !superseded.contains(readCount - 1) { try add() }
      let byteCount = documents.consumedByteCount
      let count = encoder.count + untyped.count
      if count >= options.batchDocumentCount || byteCount - start >= options.batchByteCount {
        start = byteCount
        return Step(batch: try takeBatch(), byteCount: byteCount, isLast: false)
      }
      if readCount % ImportRun.stepDocumentCount == 0 {
        return Step(batch: nil, byteCount: byteCount, isLast: false)
      }
    }
    isAtEnd = true
    let byteCount = documents.consumedByteCount
    guard kept?.batches.isEmpty ?? true else {
      return Step(batch: nil, byteCount: byteCount, isLast: false)
    }
    return Step(batch: try takeLastBatch(), byteCount: byteCount, isLast: true)
  }

  /// The next of the batches that were kept.
  private mutating func nextKept() throws -> Step? {
    guard let kept else { return nil }
    var batch: RecordBatch?
    if encoder.count > 0 {
      try addFirst(of: kept)
      batch = encoder.takeBatch()
    } else if keptCount < kept.batches.count {
      batch = kept.batches[keptCount]
      keptCount += 1
    }
    guard let batch else { return nil }
    return Step(
      batch: batch, byteCount: documents.consumedByteCount,
      keptPart: Double(keptCount) / Double(kept.batches.count),
      isLast: keptCount == kept.batches.count)
  }

  /// Adds the first batch to the one that is begun, where that has room: a file that fits in one batch is saved by
  /// one transaction, and batches of new documents end where they would if nothing had been kept.
  private mutating func addFirst(of kept: KeptBatches) throws {
    guard let first = kept.batches.first,
      encoder.count + first.count <= options.batchDocumentCount,
      documents.consumedByteCount - start + first.byteCount <= options.batchByteCount
    else { return }
    if try encoder.add(first) { keptCount = 1 }
  }

  private mutating func add() throws {
    if isTyped {
      untyped.append(try documents.item().document)
    } else if let tape = documents.tape {
      if try !encoder.add(tape, documents.outsideKey) {
        try encoder.add(try documents.item().document)
      }
    } else {
      try encoder.add(try documents.item().document)
    }
  }

  /// Nil where no document is left.
  private mutating func takeLastBatch() throws -> RecordBatch? {
    encoder.count + untyped.count == 0 ? nil : try takeBatch()
  }

  private mutating func takeBatch() throws -> RecordBatch {
    for document in try rehearsal.asTyped(untyped) { try encoder.add(document) }
    untyped.removeAll(keepingCapacity: true)
    return encoder.takeBatch()
  }
}
