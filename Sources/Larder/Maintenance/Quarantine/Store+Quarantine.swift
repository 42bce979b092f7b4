internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What became of a store that was set aside.
public struct QuarantineReport: Sendable, Equatable {
  /// The folder that holds the damaged file now.
  public let folder: URL
  /// What was wrong with the file's pages, the first 100; empty when they are as they should be, and
  /// only records are damaged, or nothing is.
  public let faults: [String]
  /// What was read from it into the new store.
  public let salvage: SalvageReport
}

/// What could be read from a damaged store.
public struct SalvageReport: Sendable, Equatable {
  /// Documents that this call has saved, by collection. Those that the store had already are not among
  /// them, such as those of an earlier call that was cut short.
  public internal(set) var documentCounts: [String: Int] = [:]
  /// Documents that are whole and were not saved, as they cannot stand beside what the store has, by
  /// collection. They stay in the damaged file: salvage them into a store of their own.
  public internal(set) var unsaved: [String: Unsaved] = [:]
  /// Records that were found and whose checksums do not fit, or whose collection is not described
  /// any more.
  public internal(set) var damagedRecordCount = 0
  /// Pages that hold, or held, something that could not be read.
  public internal(set) var skippedPageCount = 0

  /// Whether the newest commit could not be told for sure: documents may then be as the one before
  /// it left them, all of the same moment.
  public internal(set) var mayBeEarlier = false

  /// How many documents this call has saved, in all collections.
  public var documentCount: Int { documentCounts.values.reduce(0, +) }

  /// Documents of one collection that were not saved.
  public struct Unsaved: Sendable, Equatable {
    /// How many, of those that were found.
    public internal(set) var count: Int
    /// Why, in words; of several reasons the first.
    public let reason: String
  }

  mutating func leave(_ count: Int, of name: String, because reason: String) {
    if count > 0 { unsaved[name, default: Unsaved(count: 0, reason: reason)].count += count }
  }
}

extension Store {
  /// Moves the damaged file of the store in `folder` aside, and makes a new store in its place with
  /// every document that can still be read whole.
  ///
  /// For a store that ``StoreError/damagedFile(path:reason:)`` was thrown for. The file goes into a
  /// folder of its own beside `folder`, named after it and the time; nothing is ever deleted. Each
  /// document is verified by its checksum, so that none comes back wrong or under another key, and none
  /// as it was before the last commit (but see ``SalvageReport/mayBeEarlier``); some may be missing:
  /// fetch them again from where they came from. Indexes are made again by the types that declare
  /// them.
  ///
  /// The store is opened by nobody else before this has ended: where it was ended early, failed, or
  /// its process died, opening throws ``StoreError/unfinishedQuarantine(path:reason:)``, and a second
  /// call goes on with the file that was set aside.
  ///
  /// - Parameters:
  ///   - options: Of the new store, which is closed again at the end. It has room for the collections of
  ///     the old one, whatever ``StoreOptions/maximumDatabaseCount`` is.
  ///   - progress: Told how far it is, first when the file has been moved, then now and then, with
  ///     the path of the folder that holds the damaged file. What it throws ends it.
  /// - Throws: ``StoreError``, such as ``StoreError/storage(_:)`` when the store is open in this
  ///   process or another one; nothing was moved then. When reading the damaged file or writing the
  ///   new store fails, the file is aside already: another call goes on with it. So it is with
  ///   what `progress` throws, and with a `CancellationError`.
  public static func quarantine(
    at folder: URL, options: StoreOptions = StoreOptions(),
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> QuarantineReport {
    let path = try folder.folderPath()
    // First: what cannot be opened with these would only be moved.
    try options.check()
    guard !options.isReadOnly else { throw StoreError.readOnly }
    try PublicationMark.refuse(path)
    let aside = try Engine.storing(at: path) { try Environment.setAside(path) }
    let asideFolder = URL(filePath: aside.folder, directoryHint: .isDirectory)
    try StoreProgress(
      .salvaging, completed: 0, total: aside.report.pageCount * 2, documentCount: 0,
      subject: asideFolder.path(percentEncoded: false)
    ).tell(progress)
    var options = options
    // A call with too few would end half-way, and nothing else can open the store then.
    options.makeRoom(forStoresIn: [aside.folder])
    let store = try Store(salvagingAt: path, options: options)
    let outcome = Result { try store.salvage(from: asideFolder, progress: progress) }
    try store.close()
    let salvage = try outcome.get()
    try Engine.storing(at: path) { try Environment.endQuarantine(path) }
    return QuarantineReport(
      folder: asideFolder, faults: aside.report.faults.map { "\($0)" }, salvage: salvage)
  }

  /// Moves a damaged file aside and saves what is whole of it, on a thread of its own; as the
  /// synchronous one. Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  public static func quarantine(
    at folder: URL, options: StoreOptions = StoreOptions(),
    progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> QuarantineReport {
    try await DiskWork.run(progress) { progress in
      try quarantine(at: folder, options: options, progress: progress)
    }
  }
}
