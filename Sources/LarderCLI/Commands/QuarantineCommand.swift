internal import Foundation
internal import Larder

enum QuarantineCommand: Command {
  static let name = "quarantine"
  static let summary = "set a damaged store aside and save what is whole"
  static let help = """
    larder quarantine --store DIR

    Moves the file of a damaged store into a folder of its own next to the store's, and makes a new
    store with every document that can still be read whole; each is verified by its checksum. Nothing
    is deleted. One that was cut short goes on when it is run again, and counts what that run saved;
    the store cannot be opened before. A store that `larder check` finds sound stays where it is.
    Indexes are made again by the programs that declare them, or by `larder index`.

      --from ASIDE  read a file that was set aside before once more, and add what the store lacks
      --store DIR   the store's folder; else the environment's LARDER_STORE

    Examples:
      larder quarantine --store ./data
      larder quarantine --from ./data.quarantine-20261122T081530Z --store ./data

    Exit codes: 0 saved what is whole, or sound, 1 store in use or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store, Option("from", takes: "ASIDE")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    if let aside = arguments["from"] {
      guard FileManager.default.fileExists(atPath: aside + "/data.mdb") else {
        throw Failure("there is no file at \(aside.inQuotes): it is a folder with a data.mdb")
      }
      // Which may not have been made, where it was stopped at once.
      let path = try arguments.storePath()
      var options = StoreOptions()
      options.makeRoom(forStoresIn: [path, aside])
      let store = try Store(at: path, options: options)
      try tell(
        following(goingOn: "`larder quarantine --from` goes on") { progress in
          try store.salvage(
            from: URL(filePath: aside, directoryHint: .isDirectory), progress: progress)
        })
      return .success
    }

    if try isSound(arguments) {
      try Console.print("sound: nothing was moved")
      return .success
    }
    let path = try arguments.storePath()
    let goingOn = "`larder quarantine` goes on, and nothing else can open the store before"
    let report = try following(goingOn: goingOn) { progress in
      try Store.quarantine(
        at: URL(filePath: path, directoryHint: .isDirectory), progress: progress)
    }
    try Console.print("set aside: \(report.folder.path(percentEncoded: false))")
    try tell(report.salvage)
    return .success
  }

  /// Shows how far it is, ends it at Control-C, and says how to go on where it did not come to its
  /// end.
  ///
  /// - Parameter goingOn: How to go on.
  private static func following<Result>(
    goingOn: String, _ body: ((StoreProgress) throws -> Void) throws -> Result
  ) throws -> Result {
    Interruption.watch()
    var line = ProgressLine()
    defer { line.clear() }
    var aside: String?
    do {
      return try body { news in
        aside = news.subject
        line.show("saving", fraction: news.fraction) { _ in
          ["\(Console.grouped(news.documentCount ?? 0)) documents"]
        }
        try Interruption.check()
      }
    } catch {
      guard let aside else { throw error }
      let reason = error is CancellationError ? "it was stopped." : "\(error)"
      throw Failure(
        "\(reason) The damaged file is in \(aside.inQuotes), and what was saved so far in the new "
          + "store; \(goingOn)")
    }
  }

  private static func isSound(_ arguments: Arguments) throws -> Bool {
    // Where a quarantine was cut short there may be no file yet.
    let path = try arguments.storePath()
    let hasFile = FileManager.default.fileExists(atPath: path + "/data.mdb")
    if !hasFile, FileManager.default.fileExists(atPath: path + "/larder.lock") { return false }
    do {
      let store = try arguments.storeToRead(checksPages: true)
      let report = try store.checkedInSight()
      try store.close()
      return report.isSound
    } catch StoreError.damagedFile {
      return false
    } catch StoreError.damagedCatalogue {
      return false
    } catch StoreError.unfinishedQuarantine {
      return false
    }
  }

  private static func tell(_ salvage: SalvageReport) throws {
    for (collection, count) in salvage.documentCounts.sorted(by: { $0.key < $1.key }) {
      try Console.print("\(collection): \(Console.number(count)) documents saved")
    }
    for (collection, unsaved) in salvage.unsaved.sorted(by: { $0.key < $1.key }) {
      try Console.print(
        "\(collection): \(Console.number(unsaved.count)) documents not saved, as \(unsaved.reason)")
    }
    try Console.print(
      "\(Console.number(salvage.documentCount)) documents saved by this run, "
        + "\(Console.number(salvage.damagedRecordCount)) damaged, "
        + "\(Console.number(salvage.skippedPageCount)) pages not readable"
        + (salvage.mayBeEarlier ? "; they may be as the commit before the last left them" : ""))
  }
}
