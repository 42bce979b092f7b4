import Foundation

@main enum Stress {
  static func main() {
    // A child that was killed no longer reads what it is told.
    signal(SIGPIPE, SIG_IGN)
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "worker" { work(Array(arguments.dropFirst())) }
    do {
      if arguments.first == "load" { return try LoadRun.run(arguments.dropFirst()) }
      let options = try Options(arguments)
      guard !options.isHelp else {
        say(Options.usage)
        return
      }
      // A process that crashes has hundreds of threads that did nothing.
      setenv("SWIFT_BACKTRACE", "threads=crashed", 0)
      var failures: [[String]] = []
      for name in options.names {
        guard let campaign = campaigns.first(where: { $0.name == name }) else {
          failures.append(["there is no campaign \(name)"])
          continue
        }
        let lines = CampaignRun(
          campaign: campaign, scale: options.scale, seed: options.seed, keep: options.keep,
          cycles: options.cycles
        ).run()
        if !lines.isEmpty { failures.append(lines) }
      }
      rmdir(options.keep.path)  // Stays where something in it is kept.
      if options.names.count > 1, !failures.isEmpty {
        say("\nWhat failed, once more:")
        for line in failures.joined() { say(line) }
      }
      exit(failures.isEmpty ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("stress: \(error)\n".utf8))
      exit(error is UsageError ? 2 : 1)
    }
  }

  private static func work(_ arguments: [String]) -> Never {
    guard let role = arguments.first, let worker = workers.first(where: { $0.role == role }) else {
      FileHandle.standardError.write(Data("stress: no such worker\n".utf8))
      exit(2)
    }
    do {
      try worker.run(Array(arguments.dropFirst()))
      exit(0)
    } catch {
      say("error \(error)")
      exit(1)
    }
  }
}
