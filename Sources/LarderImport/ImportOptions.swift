/// How an import goes about its work.
public struct ImportOptions: Sendable {
  /// What the file is written in.
  public var format = ImportFormat.automatic

  /// How a JSON file lays out its documents.
  public var shape = JSONShape.automatic

  /// How a CSV file is read.
  public var csv = CSVOptions()

  /// Saves everything in one transaction: all documents are kept, or none.
  ///
  /// LMDB then holds the changed pages in memory, and other writers wait to the end.
  public var atomically = false

  /// Finds out whether everything could be saved, and saves nothing.
  public var isDryRun = false

  /// What a JSON file, or JSON in a field of a CSV file, may hold before it is refused.
  public var limits = JSONLimits()

  /// Documents in one transaction, at most; fewer than 1 means 1.
  public var batchDocumentCount = 5_000

  /// Bytes of the file whose documents are saved in one transaction, about.
  public var batchByteCount = 8 << 20

  /// The ordinary way: batches, told by the file's first bytes.
  public init() {}
}
