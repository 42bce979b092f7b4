import Foundation
import Larder

@main
struct Program {
  static let usage = """
    usage: queue add QUEUE COMMAND TEXT   COMMAND is shout, reverse, crash or die
           queue work QUEUE [forever]     does what waits, or whatever comes
           queue list
    """

  static let handlers: [String: Worker.Handler] = [
    "shout": { $0.uppercased() },
    "reverse": { String($0.reversed()) },
    // Ends the first worker as if it had been killed, and leaves a file that says so.
    "crash": { file in
      if FileManager.default.fileExists(atPath: file) { return "survived" }
      try Data().write(to: URL(filePath: file))
      _exit(9)
    },
    // Ends every worker.
    "die": { _ in _exit(9) },
  ]

  static func main() async {
    do {
      try await run()
    } catch {
      stop("\(error)")
    }
  }

  static func run() async throws {
    let folder = ProcessInfo.processInfo.environment["QUEUE_FOLDER"] ?? "queue.store"
    let store = try Store(at: URL(filePath: folder), documents: [Job.self])
    let jobs = store.repository(of: Job.self)
    let arguments = CommandLine.arguments.dropFirst()

    switch (arguments.first, arguments.count) {
    case ("add", 4...):
      let words = arguments.dropFirst()
      try await jobs.save(
        Job(
          queue: words[2], command: words[3], text: words.dropFirst(2).joined(separator: " ")))
    case ("work", 2...3):
      let worker = Worker(store: store, queue: arguments[2], handlers: handlers)
      try await worker.run(untilEmpty: arguments.last != "forever")
    case ("list", 1): for job in try jobs.fetch(Job.all) { print(job.line) }
    default: stop(usage)
    }
  }

  static func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(1)
  }
}
