import Foundation

/// `bench`: times engines and codecs on one workload; `bench codecs`: the codecs alone; `bench
/// layouts`: the study of LMDB layouts.
@main
struct Bench {
  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      switch options.command {
      case .help: print(Options.usage)
      case .engines: try await compareEngines(options)
      case .codecs: try compareCodecs(options)
      case .layouts: try studyLayouts(options)
      }
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(error is WrongResult ? 1 : 2)
    }
  }

  /// Every engine that takes part, the reference first.
  static func engines(_ workload: Workload, in folder: ScratchFolder) throws -> [any Engine] {
    [
      try CEngine(workload, in: folder, unchanged: .putAgain),
      try CEngine(workload, in: folder, unchanged: .compare),
      try SwiftLimitEngine(workload, in: folder),
      try LarderEngine(workload, in: folder),
    ]
  }

  private static func compareEngines(_ options: Options) async throws {
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    var results: [Timing] = []
    for scale in options.scales {
      let workload = Workload(count: scale, keys: .ordered)
      try workload.check()
      let runner = Runner(engines: try engines(workload, in: folder), rounds: options.rounds)
      let operations = options.only.isEmpty ? Operation.allCases : options.only
      results += try await runner.run(operations, workload)
      if options.only.isEmpty, scale == options.scales.first {
        results += try CodecRunner(rounds: options.rounds).run(workload)
      }
    }
    print(Report.table(results))
    if let file = options.json { try Report.json(results).write(to: file) }
  }

  private static func compareCodecs(_ options: Options) throws {
    let workload = Workload(count: CodecRunner.maximumCount, keys: .ordered)
    try workload.check()
    let results = try CodecRunner(rounds: options.rounds).run(workload)
    print(Report.table(results))
    if let file = options.json { try Report.json(results).write(to: file) }
  }

  private static func studyLayouts(_ options: Options) throws {
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    for scale in options.scales {
      let study = LayoutStudy(documents: scale, rounds: options.rounds, folder: folder)
      print(LayoutTable.markdown(try study.run(), documents: scale, rounds: options.rounds))
    }
  }
}
