public import Larder

/// How an import goes about its work.
public struct ImportOptions: Sendable {
  /// What the file is written in.
  public var format = ImportFormat.automatic

  /// How a JSON file lays out its documents.
  public var shape = JSONShape.automatic

  /// The member of a JSON file in which the documents stand, such as `features` or `response.items`: an
  /// array of them, or an object of them under their keys. What stands beside it is checked, and left out.
  ///
  /// It goes with the shapes `automatic`, `array` and `keyed`; others are refused.
  public var documentsAt: FieldPath?

  /// How a CSV file is read.
  public var csv = CSVOptions()

  /// The kinds of fields, whatever their values look like: by the names in the header of a table, by
  /// the way down to the field, such as `geo.lat`, in JSON. Of an array it is the kind of the elements.
  ///
  /// A name that the file lacks is refused, and so is a value that is none of the kind. What a type
  /// declares goes before it.
  public var types: [String: ImportType] = [:]

  /// Lets a field take any kind where the documents have values of several kinds in it, such as numbers
  /// here and arrays there. Without it they are refused in JSON, and a column of a table is text.
  ///
  /// In a table, a column that holds several kinds is then read as one of the type ``ImportType/any``.
  /// A field of any kind can have no index.
  public var allowsMixedKinds = false

  /// Gives every document a new key in the key field, a UUID that grows with time, so that the
  /// collection has the order of the file. A file whose documents have that field is refused, and so is one
  /// in which they stand under keys of their own.
  ///
  /// Everything is saved in one transaction then, as a second import would save all documents again.
  public var makesKeys = false

  /// What becomes of documents of the file that have the same key.
  public var repeatedKeys = RepeatedKeys.refused

  /// Saves everything in one transaction: all documents are kept, or none.
  ///
  /// LMDB then holds the changed pages in memory, and other writers wait to the end. An import into a
  /// collection with a unique index always goes so: only a save of all can tell whether it refuses a document. In the
  /// file documents may exchange their values.
  public var atomically = false

  /// Finds out whether everything could be saved, and saves nothing. It does not look for room on the disk or in
  /// the quota.
  public var isDryRun = false

  /// What a JSON file, or JSON in a field of a CSV file, may hold before it is refused.
  public var limits = JSONLimits()

  /// What can be read that is compressed.
  package var decompressors: [any Decompressor.Type] = []

  /// Documents in one transaction, at most; fewer than 1 means 1.
  public var batchDocumentCount = 5_000

  /// Bytes of the file, or of the records made of it, that are saved in one transaction, about.
  public var batchByteCount = 8 << 20

  /// Sets the limits of CSV and JSON so that documents, and texts and lines in them, may have so many
  /// bytes. Memory holds some times that.
  public mutating func allowDocuments(ofByteCount count: Int) {
    limits.stringByteCount = count
    limits.documentByteCount = count
    limits.lineByteCount = count
    csv.limits.fieldByteCount = count
    csv.limits.rowByteCount = count
  }

  /// The ordinary way: batches, told by the file's first bytes.
  public init() {}
}
