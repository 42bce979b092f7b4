/// What the import study times; the raw value is its name in reports.
enum ImportOperation: String, CaseIterable {
  /// Everything is read and checked, and nothing saved (`larder import --dry-run`); beside it,
  /// parsers alone, which make a value of each row and let it go.
  case parseNDJSON = "parse-ndjson"
  case parseCSV = "parse-csv"

  /// Into a store or database that is not there yet, without an index.
  case importNew = "import-new"

  /// The same file once more: nothing changes.
  case importUnchanged = "import-unchanged"

  /// Of a type, into a new store in one transaction (`load(fixture:into:)`); beside it, what
  /// `JSONDecoder` takes to make the same structs alone.
  case loadFixture = "load-fixture"

  /// All documents to a file, in the order of their keys, a document in each line.
  case export = "export"

  /// The most anonymous memory of the process that imports into what is not there yet.
  case memory = "import-new-memory"

  var unit: Measurement.Unit { self == .memory ? .bytes : .seconds }
}

extension ImportOperation {
  /// The figures that Larder should reach.
  ///
  /// - Parameters:
  ///   - larder: Seconds or bytes.
  ///   - byteCount: Bytes of the file.
  func marks(
    _ larder: Double, _ medians: [ImportEngine: Double], new: Double?, byteCount: Int
  ) -> [Mark] {
    func rate(_ most: Double) -> Mark {
      let rate = Double(byteCount) / 1e6 / larder
      return Mark(
        text: "\(Report.digits(rate)) of \(Report.fixed(most, 0)) MB/s", part: most / rate)
    }
    func ratio(_ most: Double, to other: Double?, _ name: String) -> [Mark] {
      guard let other, other > 0 else { return [] }
      return [Mark.ratio(most, of: larder, to: other, name)]
    }
    switch self {
    case .parseNDJSON: return [rate(250)]
    case .parseCSV: return [rate(150)]
    case .importNew:
      return ratio(0.35, to: medians[.python], "python")
        + ratio(0.6, to: medians[.simdjson], "simdjson")
    case .importUnchanged: return ratio(0.7, to: new, "the first")
    case .loadFixture: return []
    case .export: return [rate(400)]
    case .memory:
      return [
        Mark(
          text: "\(Report.bytes(larder)) of \(Report.bytes(Double(64 << 20)))",
          part: larder / Double(64 << 20))
      ]
    }
  }
}
