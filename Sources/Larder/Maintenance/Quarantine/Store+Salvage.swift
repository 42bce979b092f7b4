internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Saves every document that can still be read whole from a damaged store, which nobody may have
  /// open. Documents that are here already, under the same keys, stay as they are.
  ///
  /// Where the store describes a collection in another way than the file, the documents take its fields and
  /// kinds. Those that do not fit, and those of another version than the store's, are not saved:
  /// ``SalvageReport/unsaved`` names them. A store that has no such collection yet takes its version over,
  /// so that the migrations of the app run on what was salvaged.
  ///
  /// Takes two passes over the damaged file, and one transaction for every thousand documents.
  ///
  /// - Parameters:
  ///   - folder: The folder of the damaged file, such as ``QuarantineReport/folder``.
  ///   - progress: Told now and then how far it is; what it throws ends it.
  /// - Throws: ``StoreError``; what `progress` throws; `CancellationError` where the task was
  ///   cancelled. Documents that were saved before stay.
  public func salvage(
    from folder: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    try checkOpen()
    return try engine.storing {
      var salvage = Salvage(store: self, folder: folder)
      try salvage.readCatalogue(progress)
      try salvage.readDocuments(progress)
      return salvage.report
    }
  }

  /// Saves what is whole of a damaged store, on a thread of its own; as the synchronous one.
  /// Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  public func salvage(
    from folder: URL, progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> SalvageReport {
    try await DiskWork.run(progress) { [self] progress in
      try salvage(from: folder, progress: progress)
    }
  }
}
