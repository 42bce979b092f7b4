internal import Larder

/// One export: documents in, bytes out.
struct ExportRun {
  let form: ExportForm
  let sink: ExportSink
  let progress: (StoreProgress) throws -> Void

  /// What is gathered before it is written.
  private static let chunkByteCount = 64 << 10
  /// What is gathered of a part whose turn has not come.
  private static let waitingByteCount = 4 << 20
  /// Documents after which it is told how many there were.
  private static let stride = 1_000

  /// Lends every record to its body.
  typealias Records = ((borrowing RecordReader) throws -> Void) throws -> Void
  /// Lends parts of the records to several threads; false, and nothing is lent, where one has to do.
  typealias Parts = (@Sendable (TurnPart) throws -> Void) throws -> Bool

  /// - Throws: ``ExportError``; `CancellationError`; what `progress` throws; `StoreError` for a
  ///   damaged record. A file that was there is as it was.
  func write(_ parts: Parts, _ records: Records) throws -> ExportReport {
    let count = try writeInTurns(parts) ?? writeInOrder(records)
    return ExportReport(documentCount: count, byteCount: try sink.finish())
  }

  private func writeInOrder(_ records: Records) throws -> Int {
    var text = ExportText(form)
    var count = 0
    try records { record in
      try text.add(record)
      count += 1
      if text.byteCount >= Self.chunkByteCount { try text.move(to: sink) }
      if count.isMultiple(of: Self.stride) { try tell(count) }
    }
    try text.move(to: sink)
    return count
  }

  /// - Returns: How many documents there are; nil where one thread has to do.
  private func writeInTurns(_ parts: Parts) throws -> Int? {
    let shared = SharedProgress(tell)
    let (form, sink) = (form, sink)
    let isDone = try shared.watching {
      try parts { part in
        var text = ExportText(form)
        var count = 0
        try part.forEachRecord { record in
          try text.add(record)
          count += 1
          if text.byteCount >= Self.waitingByteCount {
            try part.waitForTurn()
            try text.move(to: sink)
          }
          if count.isMultiple(of: Self.stride) { try shared.add(Self.stride) }
        }
        try shared.add(count % Self.stride)
        try part.waitForTurn()
        try text.move(to: sink)
      }
    }
    return isDone ? shared.completedCount : nil
  }

  private func tell(_ count: Int) throws {
    try StoreProgress(.exporting, completed: count, total: nil, documentCount: count).tell(progress)
  }
}
