import CBench
import Foundation

/// Files to documents and back, beside a script of ten lines and a program with the fastest parser.
/// Each turn is a process of its own, from before it begins to when it has ended.
struct ImportStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder

  struct Row {
    let measurement: Measurement
    /// Bytes of the file that is read or written.
    let byteCount: Int
    /// Processor seconds, the median.
    let processorSeconds: Double
    let marks: [Mark]
  }

  private struct Key: Hashable {
    let operation: ImportOperation
    let engine: ImportEngine
  }

  /// - Throws: ``WrongResult`` where an engine fails, or handles another number of documents.
  func run() throws -> [Row] {
    let files = try ImportFiles(documents, in: folder)
    let peer = ImportEngine.compilePeer(in: folder)
    if peer == nil { print("NOT RUN: simdjson. The peer could not be compiled.") }
    var values: [Key: [Double]] = [:]
    var processor: [Key: [Double]] = [:]
    let engines = ImportEngine.allCases
    for round in 0..<rounds {
      // All three do one operation before any does the next; each begins in its turn.
      let turns = engines.indices.map { engines[($0 + round) % engines.count] }
      for engine in turns { _ = try folder.folder(engine.rawValue) }
      for operation in ImportOperation.allCases where operation != .memory {
        for engine in turns {
          guard let child = try turn(operation, engine, files, peer) else { continue }
          let key = Key(operation: operation, engine: engine)
          values[key, default: []].append(child.seconds)
          processor[key, default: []].append(child.processor_seconds)
          guard operation == .importNew else { continue }
          let memory = Key(operation: .memory, engine: engine)
          values[memory, default: []].append(Double(child.anonymous_byte_count))
          processor[memory, default: []].append(child.processor_seconds)
        }
      }
    }
    return ImportOperation.allCases.flatMap { rows(of: $0, files, values, processor) }
  }

  private func turn(
    _ operation: ImportOperation, _ engine: ImportEngine, _ files: ImportFiles, _ peer: String?
  ) throws -> bench_child? {
    // What is only read is read into a store of its own, and so is a fixture.
    let isParsing = [.parseNDJSON, .parseCSV, .loadFixture].contains(operation)
    let store =
      try isParsing ? folder.folder("parsed") : folder.inner(engine.rawValue)
    guard let words = engine.command(operation, files, store: store.path, peer: peer) else {
      return nil
    }
    let output = folder.path + "/output.txt"
    let child = runChild(words, output: output)
    let text = try String(contentsOfFile: output, encoding: .utf8)
    guard child.status == 0,
      text.trimmingCharacters(in: .whitespacesAndNewlines) == "\(documents)"
    else {
      throw WrongResult(
        description: "\(engine.rawValue), \(operation.rawValue): status \(child.status), \(text)")
    }
    return child
  }

  private func rows(
    of operation: ImportOperation, _ files: ImportFiles, _ values: [Key: [Double]],
    _ processor: [Key: [Double]]
  ) -> [Row] {
    func median(_ engine: ImportEngine, _ operation: ImportOperation) -> Double? {
      Spread(values[Key(operation: operation, engine: engine)] ?? [])?.median
    }
    var medians: [ImportEngine: Double] = [:]
    for engine in ImportEngine.allCases { medians[engine] = median(engine, operation) }
    let byteCount = operation == .parseCSV ? files.csv.byteCount : files.ndjson.byteCount
    return ImportEngine.allCases.compactMap { engine in
      let key = Key(operation: operation, engine: engine)
      guard let spread = Spread(values[key] ?? []),
        let processorSeconds = Spread(processor[key] ?? [])?.median
      else { return nil }
      let ratios = medians.map { ($0.key.rawValue, spread.median / $0.value) }
      return Row(
        measurement: Measurement(
          operation: operation.rawValue, unit: operation.unit, documents: documents,
          handled: operation == .memory ? 1 : documents, engine: engine.rawValue,
          spread: spread, ratios: Dictionary(uniqueKeysWithValues: ratios)),
        byteCount: byteCount, processorSeconds: processorSeconds,
        marks: engine == .larder
          ? operation.marks(
            spread.median, medians, new: median(.larder, .importNew), byteCount: byteCount)
          : [])
    }
  }
}

/// Runs a command to its end; what it prints goes to the file `output`.
func runChild(_ words: [String], output: String) -> bench_child {
  var pointers = words.map { strdup($0) }
  defer { for pointer in pointers { free(pointer) } }
  pointers.append(nil)
  return bench_child_run(&pointers, output)
}

extension ImportStudy {
  /// What the ratios are to.
  static let references = ImportEngine.allCases.map(\.rawValue)

  /// The rows as a table for people: rates are of the file's bytes.
  static func table(_ rows: [Row]) -> String {
    let header =
      ["operation", "documents", "engine", "median", "MB/s", "processor"]
      + references.map { "to \($0)" } + ["spread", "mark"]
    let lines = rows.map { row in
      let result = row.measurement
      let isTime = result.unit == .seconds
      let rate = Report.digits(Double(row.byteCount) / 1e6 / result.spread.median)
      return [
        result.operation, "\(result.documents)", result.engine,
        Report.text(result.spread.median, result.unit), isTime ? rate : "-",
        isTime ? Report.time(row.processorSeconds) : "-",
      ]
        + references.map { Report.ratio(result, to: $0) } + [
          "\(Report.text(result.spread.minimum, result.unit)) - "
            + Report.text(result.spread.maximum, result.unit),
          row.marks.map(\.description).joined(separator: "; "),
        ]
    }
    return Report.aligned([header] + lines, texts: [0, 2, 10])
  }
}
