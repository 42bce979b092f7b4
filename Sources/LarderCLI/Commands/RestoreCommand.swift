internal import Foundation
internal import Larder

enum RestoreCommand: Command {
  static let name = "restore"
  static let summary = "put a backup in the place of a store"
  static let help = """
    larder restore BACKUP --store DIR

    Checks every page and every document of a backup, and then makes a store of it, or with --replace
    puts it in the place of one that no process has open. What was saved since the backup is gone
    then. The old file is removed when the new one is in its place; Control-C, or a crash, leaves one
    of them, whole.

      --replace    replace the store that is there
      --store DIR  the store's folder; else the environment's LARDER_STORE

    Examples:
      larder restore ./backups/monday --store ./new
      larder restore ./backups/monday --store ./data --replace

    Exit codes: 0 restored, 1 damaged backup, store in use or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store, Option("replace")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let backup = try arguments.operands("BACKUP")[0]
    let path = try arguments.storePath()
    guard FileManager.default.fileExists(atPath: backup + "/data.mdb") else {
      throw Failure("there is no backup at \(backup.inQuotes): it is a folder with a data.mdb")
    }
    if !arguments.has("replace"), FileManager.default.fileExists(atPath: path + "/data.mdb") {
      throw Failure("there is a store at \(path.inQuotes). Give --replace if it may go")
    }
    let report = try CopyLine.following { progress in
      try Store.restore(from: backup, to: path, progress: progress)
    }
    try Console.print(
      "\(path): \(Console.number(report.documentCount)) documents restored"
        + (report.hasReplaced ? ", the store before is gone" : ""))
    return .success
  }
}
