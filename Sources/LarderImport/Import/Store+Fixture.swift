public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Loads a file of documents of a type, for tests and previews: all of it in one transaction, or
  /// nothing.
  ///
  /// ```swift
  /// let store = try Store.temporary()
  /// try store.load(fixture: folder.appending(path: "contacts.csv"), into: Contact.self)
  /// ```
  /// The name tells the format: `.json`, `.ndjson`, `.jsonl`, `.csv` or `.tsv`. Values become what
  /// the type declares, as ``importDocuments(from:into:clearBeforeSaving:options:progress:)`` has it.
  ///
  /// - Throws: ``ImportError`` with file, line, column and field for a file that cannot be read or
  ///   does not fit the type; `StoreError`. Nothing is changed then, the catalogue neither.
  ///   ``ImportInterrupted`` when it was cancelled, or could not go on after the first reading:
  ///   no document is saved then.
  @discardableResult
  public func load<Entity: Document>(
    fixture: URL, into type: Entity.Type
  ) throws -> ImportReport {
    guard fixture.mayBeFile else { throw ImportError.notOnDisk(fixture.absoluteString) }
    let path = fixture.path(percentEncoded: false)
    try Self.requireFormat(of: path)
    return try importDocuments(from: .file(path), into: type, options: .fixture)
  }

  /// Loads a file of documents of a type, off the caller's actor; otherwise as the synchronous one.
  ///
  /// - Throws: As there.
  @concurrent @discardableResult
  public func load<Entity: Document>(
    fixture: URL, into type: Entity.Type
  ) async throws -> ImportReport {
    try loadNow(fixture, type)
  }

  /// The synchronous one, under a name that an asynchronous caller can mean.
  private func loadNow<Entity: Document>(
    _ fixture: URL, _ type: Entity.Type
  ) throws -> ImportReport {
    try load(fixture: fixture, into: type)
  }

  private static func requireFormat(of path: String) throws(ImportError) {
    let name = path.lowercased()
    guard !["json", "ndjson", "jsonl", "csv", "tsv"].contains(where: { name.hasSuffix("." + $0) })
    else { return }
    throw ImportError(
      .shape, file: path, position: nil, found: "a name that tells no format",
      expected: "one that ends in .json, .ndjson, .jsonl, .csv or .tsv")
  }
}

extension ImportOptions {
  fileprivate static var fixture: ImportOptions {
    var options = ImportOptions()
    options.atomically = true
    return options
  }
}
