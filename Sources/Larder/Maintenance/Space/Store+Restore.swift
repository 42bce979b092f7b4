internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What was restored.
public struct RestoreReport: Sendable, Equatable {
  /// Documents of the backup, each of which was read and verified.
  public let documentCount: Int
  /// Bytes of the restored store's file.
  public let byteCount: Int
  /// Whether there was a store before, which is gone now.
  public let hasReplaced: Bool
}

extension Store {
  /// Puts a backup in the place of the store in `folder`, or makes one there.
  ///
  /// First every page and every document of the backup is checked; nothing is touched before it is
  /// found sound. Then a copy is written beside the old file, and takes its place in one step: a
  /// process that is killed leaves the old store or the new one, whole. Only then the old file is
  /// removed. The backup stays as it is, and needs not be opened by anybody else meanwhile.
  ///
  /// What was saved since the backup was made is gone. The restored store begins a timeline of its own:
  /// tokens from before and all named consumers begin with a reset, as nothing tells which of the
  /// changes that they have seen are undone.
  ///
  /// - Parameters:
  ///   - backup: A folder that `backup(to:progress:)` made, or any store. This process must not have it open.
  ///   - folder: The folder of a store that no process has open, an empty one, or a new one whose
  ///     parent exists.
  ///   - progress: Told now and then; what it throws ends the restoration.
  /// - Throws: ``StoreError``, such as ``StoreError/damagedFile(path:reason:)`` or
  ///   ``StoreError/damagedBackup(path:problems:)`` for the backup, ``StoreError/storage(_:)``
  ///   where the store is open, ``StoreError/full(_:)``; what `progress` throws; `CancellationError`
  ///   where the task was cancelled. The store in `folder` is as it was then.
  @discardableResult
  public static func restore(
    from backup: URL, to folder: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> RestoreReport {
    try restore(
      from: backup.folderPath(), to: folder.folderPath(),
      progress: progress)
  }

  /// Puts a backup in the place of a store; see `restore(from:to:progress:)`.
  ///
  /// - Throws: As there.
  @discardableResult
  public static func restore(
    from backup: String, to folder: String, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> RestoreReport {
    var options = StoreOptions(isReadOnly: true)
    options.pageCheck = .always
    options.makeRoom(forStoresIn: [backup])
    // Opening would say how to make one, and leave files in its place.
    guard try Engine.storing(at: backup, { try WholeFile.exists(backup + "/data.mdb") }) else {
      throw StoreError.notAStore(path: backup, reason: "there is no backup: it has no data.mdb")
    }
    let paths = [backup, folder].map { URL(filePath: $0).resolvingSymlinksInPath().path }
    if paths[0] == paths[1] {
      throw StoreError(
        LMDBError(
          .unsafeFile, operation: "restore", path: folder,
          detail: "the backup itself is in this folder; name the store's folder")
      )
    }
    try PublicationMark.refuse(folder)
    let source: Store
    do {
      source =
        isPublished(at: backup)
        ? try Store(published: URL(filePath: backup), options: options)
        : try Store(at: backup, options: options)
    } catch StoreError.optionsDiffer {
      throw StoreError(
        LMDBError(
          .inUse, operation: "restore", path: backup, detail: "this process has the backup open"))
    }
    // It was only read: closing it can fail for nothing that matters.
    defer { try? source.close() }
    let check = try source.check { news in
      var news = news
      news.fraction = news.fraction.map { $0 / 2 }
      try progress(news)
    }
    guard check.isSound else {
      throw StoreError.damagedBackup(
        path: backup, problems: check.problems.prefix(10).map { "\($0)" })
    }
    try Engine.refuseForeignFolder(folder)
    return try source.engine.copying(to: folder) {
      var ending = Ending()
      let done = try source.engine.environment.restore(to: folder) { copy in
        try copy.renewState(isSameTimeline: false)
      } progress: { written, total in
        ending.goesOn {
          var news = StoreProgress(.copying, completed: written, total: total)
          news.fraction = news.fraction.map { ($0 + 1) / 2 }
          try news.tell(progress)
        }
      }
      guard let done else { throw ending.reason }
      return RestoreReport(
        documentCount: check.documentCount, byteCount: done.byteCount,
        hasReplaced: done.hasReplaced)
    }
  }

  /// Puts a backup in the place of a store, on a thread of its own; as the synchronous one.
  /// Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  @discardableResult
  public static func restore(
    from backup: URL, to folder: URL,
    progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> RestoreReport {
    try await DiskWork.run(progress) { progress in
      try restore(
        from: backup.folderPath(), to: folder.folderPath(),
        progress: progress)
    }
  }
}
