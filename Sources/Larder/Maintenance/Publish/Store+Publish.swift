internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What was published.
public struct PublishReport: Sendable, Equatable {
  /// How many documents the queries found; one that several find counts for each.
  public let documentCount: Int
  /// Bytes of the file.
  public let byteCount: Int
}

extension Store {
  /// Writes what the queries find into a store of its own that is read without locks, and puts it in the
  /// place of the one that was published there before.
  ///
  /// ```swift
  /// try store.publish(Task.where { !$0.isDone }.sorted(by: \.due).limit(20), List.all, to: folder)
  /// ```
  /// All of it is of one moment. It has the indexes that the types declare, and takes no more pages than
  /// it needs. ``init(published:options:)`` opens it, in whatever process; whoever has the former one open
  /// reads on in that. No lock is held in the folder at any time, and a process that is killed leaves
  /// either the former one or the new one in its place. Of several that publish to one folder at a time
  /// the last one stays.
  ///
  /// The documents are in memory meanwhile, and the files of the copy in the temporary folder: it is for
  /// what a widget shows, and not for whole stores.
  ///
  /// - Parameter folder: For what is published and nothing else. It is made where there is none; its parent
  ///   must exist.
  /// - Throws: ``StoreError``: ``StoreError/notAStore(path:reason:)`` where the folder has a store that is
  ///   written to. What was published before is untouched then.
  @discardableResult
  public func publish<each Entity: Document>(
    _ queries: repeat Query<each Entity>, to folder: URL
  ) throws -> PublishReport {
    try checkOpen()
    let path = try folder.folderPath()
    // To its end it is one read, which a suspension waits for: the store that is made here has locks of its
    // own, if in the temporary folder only.
    let report = try read { snapshot in
      // Closures, as a scope cannot be handed from one type to the next.
      var saves: [(inout WriteScope) throws -> Int] = []
      repeat saves.append(Self.saving(try snapshot.fetch(each queries)))
      return try Self.withScratch("publish") { scratch in
        let made = try Self.makeWhole(in: scratch, saves)
        try Engine.storing(at: path, neededByteCount: made.byteCount) {
          try Publication.put(made.file, in: path)
        }
        return PublishReport(documentCount: made.documentCount, byteCount: made.byteCount)
      }
    }
    engine.log.tell(.info, "documents were published", ["bytes": "\(report.byteCount)"])
    return report
  }

  /// Writes what the queries find into a store of its own, on a thread of its own; as the synchronous one.
  ///
  /// - Throws: As the synchronous one.
  @discardableResult
  public func publish<each Entity: Document>(
    _ queries: repeat Query<each Entity>, to folder: URL
  ) async throws -> PublishReport {
    let queries = (repeat each queries)
    return try await DiskWork.run({ _ in }) { [self] _ in
      try publish(repeat each queries, to: folder)
    }
  }

  /// The store that has been published since this one was opened, or nil where this one is the newest.
  ///
  /// - Throws: ``StoreError``, as ``init(published:options:)``. This one stays open.
  public func newerPublication() throws -> Store? {
    try checkOpen()
    guard engine.environment.options.isPublished, engine.environment.isReplaced else { return nil }
    return try Store(published: folder, options: engine.options)
  }

  /// Whether a folder is for what `publish(_:to:)` puts there.
  package static func isPublished(at path: String) -> Bool { PublicationMark.isIn(path) }

  private static func saving<Entity: Document>(
    _ documents: [Entity]
  ) -> (inout WriteScope) throws -> Int {
    { scope in
      try scope.save(documents)
      return documents.count
    }
  }
}

// MARK: - Small stores that are made whole

extension Store {
  /// A file of a store that was just made, in the temporary folder.
  struct MadeStore {
    let file: String
    let byteCount: Int
    let documentCount: Int
  }

  /// Makes a store with what `saves` save in one transaction, which return how much that is.
  static func makeWhole(
    in scratch: URL, _ saves: [(inout WriteScope) throws -> Int]
  ) throws -> MadeStore {
    let making = try Store(
      at: scratch.appending(path: "making"), options: StoreOptions(durability: .volatile))
    let documentCount = try making.write { scope in
      let count = try saves.reduce(0) { try $0 + $1(&scope) }
      // Nothing is evicted on the way: the store that receives the documents has its own rules.
      scope.ageing = [:]
      return count
    }
    let made = scratch.appending(path: "made")
    // Without free pages, and with a timeline of its own.
    let byteCount = try making.backup(to: made)
    try making.close()
    return MadeStore(
      file: made.appending(path: "data.mdb").path(percentEncoded: false), byteCount: byteCount,
      documentCount: documentCount)
  }

  /// Lends a folder of the temporary folder, for the time of `body`.
  static func withScratch<Result>(
    _ purpose: String, _ body: (URL) throws -> Result
  ) throws -> Result {
    let scratch = FileManager.default.temporaryDirectory.appending(
      path: "larder-\(purpose)-\(UUID.random().uuidString)", directoryHint: .isDirectory)
    let path = scratch.path(percentEncoded: false)
    try Engine.storing(at: path) { try WholeFile.makeFolder(path, isLasting: false) }
    // A leftover in the temporary folder is the system's to remove.
    defer { try? FileManager.default.removeItem(at: scratch) }
    return try body(scratch)
  }
}

/// A folder with what is published.
enum Publication {
  /// - Throws: ``StoreError/notAStore(path:reason:)``; `LMDBError`.
  static func put(_ file: String, in folder: String) throws {
    let folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    let names = try WholeFile.names(in: folder) ?? []
    let mark = PublicationMark.name
    let ours = ["data.mdb", mark]
    if let foreign = names.filter({ !ours.contains($0) && !$0.hasPrefix(".") }).min() {
      throw StoreError.notAStore(
        path: folder, reason: "it holds \(foreign), so that nothing can be published there")
    }
    if names.isEmpty { try WholeFile.makeFolder(folder, isLasting: true) }
    if !names.contains(mark) { try WholeFile.touch(folder + "/" + mark) }
    try WholeFile.put(copying: file, at: folder + "/data.mdb", unique: UUID.random().uuidString)
    WholeFile.removeLeftovers(in: folder)
  }
}
