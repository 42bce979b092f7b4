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
  /// Documents that are in the new store now, by collection.
  public internal(set) var documentCounts: [String: Int] = [:]
  /// Records that were found and whose checksums do not fit, or whose collection is not described
  /// any more.
  public internal(set) var damagedRecordCount = 0
  /// Pages that hold, or held, something that could not be read.
  public internal(set) var skippedPageCount = 0

  /// Whether the newest commit could not be told for sure: documents may then be as the one before
  /// it left them, all of the same moment.
  public internal(set) var mayBeEarlier = false

  public var documentCount: Int { documentCounts.values.reduce(0, +) }
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
  /// - Parameter options: Of the new store, which is closed again at the end.
  /// - Throws: ``StoreError``, such as ``StoreError/storage(_:)`` when the store is open in this
  ///   process or another one; nothing was moved then. When reading the damaged file or writing the
  ///   new store fails, the file is aside already: ``salvage(from:)`` tries again.
  public static func quarantine(
    at folder: URL, options: StoreOptions = StoreOptions()
  ) throws -> QuarantineReport {
    let path = folder.path(percentEncoded: false)
    let aside = try storing { try Environment.setAside(path) }
    let store = try Store(at: path, options: options)
    let asideFolder = URL(filePath: aside.folder, directoryHint: .isDirectory)
    let salvage = try store.salvage(from: asideFolder)
    try store.close()
    return QuarantineReport(
      folder: asideFolder, faults: aside.report.faults.map { "\($0)" }, salvage: salvage)
  }
}
