internal import Larder

enum BackupCommand: Command {
  static let name = "backup"
  static let summary = "copy a store, which may be in use"
  static let help = """
    larder backup DIR --store DIR

    Writes a copy of one snapshot of the store, without free pages, into a new folder. Others may read
    and write the store meanwhile. The folder has its name once the copy is whole and on the
    disk; nothing is overwritten.

      --store DIR  the store's folder; else the environment's LARDER_STORE

    Example:
      larder backup ./backups/monday --store ./data

    Exit codes: 0 written, 1 there is something already or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let target = try arguments.operands("DIR")[0]
    let store = try arguments.storeToRead()
    let byteCount = try CopyLine.following { progress in
      try store.backup(to: target, progress: progress)
    }
    try Console.print("\(target): \(Console.number(byteCount)) bytes written")
    return .success
  }
}
