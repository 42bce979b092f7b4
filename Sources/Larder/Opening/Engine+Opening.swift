internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Engine {
  /// Opens the store in `folder`, or joins those that have it open.
  ///
  /// - Parameter isSalvaging: Opens also a store that a quarantine has begun and not filled yet.
  static func open(
    at folder: String, options: StoreOptions, isSalvaging: Bool = false
  ) throws -> Engine {
    try options.check()
    let environment = try openEnvironment(at: folder, options: options, isSalvaging: isSalvaging)
    // Two who open one folder wait for each other, and for nobody who opens another one.
    return try environment.companion.withLock { companion in
      if let engine = companion.object as? Engine {
        let differences = engine.options.differences(from: options)
        guard differences.isEmpty else {
          try environment.close()  // Others have it open: this one only leaves.
          throw StoreError.optionsDiffer(path: environment.folder, names: differences)
        }
        engine.learn(options)
        return engine
      }
      do {
        let engine = Engine(environment, options)
        try engine.begin()
        companion.object = engine
        return engine
      } catch {
        // The first error is the one that helps; an environment that cannot close either
        // closes when it is let go of.
        try? environment.close(timeoutSeconds: 0)
        throw error
      }
    }
  }

  /// Reads the catalogue, and finds out what is to be done with the indexes.
  private func begin() throws {
    let isStateStale = try isStateStale()
    try refreshCatalogue()
    if isStateStale { try writer.run { try perform { $0.hasWrittenMore = true } } }
    findIndexesToRenew()
    // Another program may have ended between two steps of a merge.
    indexWork.withLock { $0.searchesToMerge = catalogue.searchNumbers }
    damagedSearches.start { [weak self] in self?.scheduleIndexWork() }
    tokenizers.start { [weak self] in self?.scheduleIndexWork() }
  }

  private static func openEnvironment(
    at folder: String, options: StoreOptions, isSalvaging: Bool
  ) throws -> Environment {
    try refuseForeignFolder(folder)
    do {
      return try Environment.open(
        at: folder, options: options.environment, checksPages: options.pageCheck == .always,
        isSalvaging: isSalvaging, wait: options.openWait(at: folder)
      ) { transaction in
        let state = StoreState(
          transaction: UInt64(transaction.id), sequence: 0, catalogueVersion: 0,
          storeID: UUID.random())
        try transaction.put(state)
        let isDurable = options.durability == .durable
        try transaction.put(Timeline(unflushedBoot: isDurable ? 0 : Environment.boot))
      }
    } catch let error as LMDBError where error.code == .invalidFile {
      throw StoreError.notAStore(path: error.path ?? folder, reason: error.detail)
    }
  }

  /// A folder without a store, and with something else, is somebody else's.
  static func refuseForeignFolder(_ folder: String) throws {
    // One that is missing or cannot be listed is the environment's to make or to refuse.
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder),
      !names.contains("data.mdb")
    else { return }
    let ours: Set = ["larder.lock", "lock.mdb", "data.mdb.copying"]  // Of a creation cut short.
    let foreign = names.filter { !ours.contains($0) && !$0.hasPrefix(".") }.min()
    if let foreign {
      throw StoreError.notAStore(path: folder, reason: "it has no data.mdb and holds \(foreign)")
    }
  }

  /// Makes sure that this is a store; returns whether its state record must be written anew, because
  /// it names a later transaction than there was. A copy starts again at transaction 1.
  private func isStateStale() throws -> Bool {
    let reading = try environment.beginRead()
    guard let found = try reading.state(path: environment.folder) else {
      throw StoreError.notAStore(
        path: environment.folder, reason: "its LMDB file has no state record of Larder")
    }
    return found.transaction > UInt64(reading.id) && !environment.options.isReadOnly
  }
}
