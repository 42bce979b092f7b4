internal import Larder
internal import LarderRemote

enum PendingCommand: Command {
  static let name = "pending"
  static let summary = "list the edits that the sync server does not have, and why"
  static let help = """
    larder pending --store DIR

    Lists the documents of a synced store whose edits the server does not have, and why they wait.
    Below them it lists documents of the server that could not be saved here. It asks no server and
    changes nothing.

      due        goes with the next sync
      sent       was sent, and the answer has not come; it is sent again under the same id
      conflict   was edited on both sides; `larder conflicts` settles it
      rejected   the server does not take it as it is. Edit the document, and it is sent again
      refused    the server's document does not fit the collection here. It is tried again by each sync

      --store DIR  the store's folder; else the environment's LARDER_STORE

    Example:
      larder pending --store ./data

    Exit codes: 0 printed, 1 no such store or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    let pending = try PendingEdits(in: try arguments.storeToRead())
    guard pending.account != nil else {
      try Console.print("the store was never synced")
      return .success
    }
    guard !pending.edits.isEmpty || !pending.refused.isEmpty else {
      try Console.print("nothing is pending")
      return .success
    }
    var table = Table(("DOCUMENT", .left), ("EDIT", .left), ("STATE", .left), ("REASON", .left))
    for edit in pending.edits {
      table.add(
        "\(edit.key)", edit.isDeletion ? "deleted" : "saved", "\(edit.status)", edit.reason)
    }
    for refused in pending.refused {
      table.add("\(refused.key)", "", "refused", refused.reason)
    }
    for line in table.lines { try Console.print(line) }
    return .success
  }
}
