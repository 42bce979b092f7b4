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
      let failed = options.names.filter { name in
        guard let campaign = campaigns.first(where: { $0.name == name }) else { return true }
        return !CampaignRun(
          campaign: campaign, scale: options.scale, seed: options.seed, keep: options.keep,
          cycles: options.cycles
        ).run()
      }
      rmdir(options.keep.path)  // Stays where something in it is kept.
      exit(failed.isEmpty ? 0 : 1)
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
