internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Writes a copy of the store into a new folder, all of one moment, while reads and writes go on;
  /// returns its size in bytes when it is on the disk.
  ///
  /// The copy has no free pages and is a store like any other: it can be opened, and
  /// `restore(from:to:progress:)` puts it in the place of one. The folder has its name only once
  /// the copy is whole. While it is written LMDB keeps the pages of its moment, and the file grows
  /// by what is written meanwhile.
  ///
  /// - Parameters:
  ///   - folder: Where to; it must not exist, or be empty. Its parent must exist.
  ///   - progress: Told about every megabyte; what it throws ends the backup.
  /// - Throws: ``StoreError``, with `EEXIST` where there is something already, or
  ///   ``StoreError/full(_:)``; what `progress` throws; `CancellationError` where the task was
  ///   cancelled. The folder is as it was then.
  @discardableResult
  public func backup(
    to folder: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> Int {
    try backup(to: folder.folderPath(), progress: progress)
  }

  /// Writes a copy of the store into a new folder; see `backup(to:progress:)`.
  ///
  /// - Throws: As there.
  @discardableResult
  public func backup(
    to path: String, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> Int {
    try checkOpen()
    return try engine.copying(to: path) {
      var ending = Ending()
      let byteCount = try engine.environment.backup(to: path) { copy in
        try copy.renewState(isSameTimeline: false)
      } progress: { written, total in
        ending.goesOn {
          try StoreProgress(.copying, completed: written, total: total).tell(progress)
        }
      }
      guard let byteCount else { throw ending.reason }
      engine.log.tell(.info, "a backup was written", ["bytes": "\(byteCount)"])
      return byteCount
    }
  }

  /// Writes a copy of the store into a new folder, on a thread of its own; as the synchronous one.
  /// Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  @discardableResult
  public func backup(
    to folder: URL, progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> Int {
    try await DiskWork.run(progress) { [self] progress in
      try backup(to: folder.folderPath(), progress: progress)
    }
  }
}
