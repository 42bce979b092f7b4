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
  ///   - progress: Told about every megabyte; false ends the backup.
  /// - Throws: ``StoreError``, with `EEXIST` where there is something already, or
  ///   ``StoreError/full(_:)``; `CancellationError` where `progress` ended it. The folder is as it
  ///   was then.
  @discardableResult
  public func backup(
    to folder: URL, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws -> Int {
    try backup(to: folder.path(percentEncoded: false), progress: progress)
  }

  /// Writes a copy of the store into a new folder; see `backup(to:progress:)`.
  ///
  /// - Throws: As there.
  @discardableResult
  public func backup(
    to path: String, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws -> Int {
    try checkOpen()
    return try engine.copying(to: path) {
      let byteCount = try engine.environment.backup(to: path) { copy in
        try copy.renewState(isSameTimeline: false)
      } progress: {
        progress(CopyProgress(step: .copying, done: $0, total: $1))
      }
      guard let byteCount else { throw CancellationError() }
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
    to folder: URL, progress: @escaping @Sendable (CopyProgress) -> Bool = { _ in true }
  ) async throws -> Int {
    try await DiskWork.run { [self] isCancelled in
      try backup(to: folder.path(percentEncoded: false)) { progress($0) && !isCancelled() }
    }
  }
}
