internal import Foundation
internal import Larder

extension Arguments {
  /// The store's folder: `--store`, or else the environment's `LARDER_STORE`.
  ///
  /// - Throws: ``UsageError`` where neither is given.
  func storePath() throws(UsageError) -> String {
    if let path = self["store"] { return path }
    guard let path = getenv("LARDER_STORE"), path.pointee != 0 else {
      throw UsageError("which store? Give --store DIR, or set LARDER_STORE")
    }
    return try String(utf8: path, calledOnError: "LARDER_STORE")
  }

  /// The store, opened to be read.
  ///
  /// - Parameter checksPages: Whether all pages of its file are looked at first.
  /// - Throws: ``Failure`` where there is none; `StoreError`.
  func storeToRead(checksPages: Bool = false) throws -> Store {
    var options = StoreOptions(isReadOnly: true)
    if checksPages { options.pageCheck = .always }
    let path = try existingStorePath()
    options.makeRoom(forStoresIn: [path])
    if Store.isPublished(at: path) {
      return try Store(published: URL(filePath: path), options: options)
    }
    return try Store(at: path, options: options)
  }

  /// A store that exists, opened to be changed.
  ///
  /// - Throws: ``Failure`` where there is none; `StoreError`.
  func storeToChange() throws -> Store {
    let path = try existingStorePath()
    return try Store(at: path, options: .toChange(path))
  }

  private func existingStorePath() throws -> String {
    let path = try storePath()
    // Of one that may not be looked at, opening says so.
    guard access(path + "/data.mdb", F_OK) == 0 || errno == EACCES else {
      throw Failure("there is no store at \(path.inQuotes). `larder import` makes one")
    }
    return path
  }
}

extension StoreOptions {
  /// Says what a write waits for, where another process keeps it waiting. Whatever the program's options
  /// are whose store it is, there is room for its collections and indexes, and for as many more as a
  /// store has by default.
  ///
  /// - Parameter path: Of the store, which may not be there yet.
  static func toChange(_ path: String) -> StoreOptions {
    var options = StoreOptions()
    options.makeRoom(forStoresIn: [path], more: options.maximumDatabaseCount)
    options.log = { event in
      guard event.message == "a write waits for another process" else { return }
      let process = event.metadata["process"].map {
        $0 == "unknown" ? "another process" : "process \($0)"
      }
      let isStopped = event.metadata["stopped"] == "true"
      Console.note(
        "larder: \(process ?? "another process") is writing to the store"
          + (isStopped ? " and is stopped; have it go on, or end it\n" : "; waiting for it\n"))
    }
    return options
  }
}

extension Store {
  /// A collection that exists.
  ///
  /// - Throws: ``Failure`` that names those which do.
  func existing(_ name: String) throws -> (collection: DynamicCollection, keyKind: KeyKind) {
    let collection = collection(name)
    if let kind = try collection.keyKind() { return (collection, kind) }
    let names = try collectionNames()
    let others = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
    throw Failure(
      "the store has no collection \(name.inQuotes); \(others)"
        + Spelling.suggestion(name, among: names))
  }
}
