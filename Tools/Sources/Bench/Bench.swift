import CBench
import Foundation

/// `bench`: times engines and codecs on one workload; `bench codecs`: the codecs alone; `bench
/// layouts`: the study of LMDB layouts; `bench watch`: what watchers cost; `bench concurrency`: what
/// many at once get.
@main
struct Bench {
  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      switch options.command {
      case .help: print(Options.usage)
      case .engines: try compareEngines(options)
      case .codecs: print(try codecs(options))
      case .layouts: try studyLayouts(options)
      case .watch: try await studyWatching(options)
      case .concurrency: try await studyConcurrency(options)
      }
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(error is WrongResult ? 1 : 2)
    }
  }

  /// Every engine that takes part, the reference first.
  static func engines(
    _ workload: Workload, in folder: ScratchFolder, _ options: Options
  ) throws -> [any Engine] {
    [
      try CEngine(workload, in: folder, unchanged: .putAgain),
      try CEngine(workload, in: folder, unchanged: .compare),
      try SwiftLimitEngine(workload, in: folder),
      try SQLiteEngine(workload, in: folder),
      try LarderEngine(workload, in: folder, mapByteCount: options.mapByteCount),
    ]
  }

  private static func compareEngines(_ options: Options) throws {
    bench_set_map_byte_count(options.mapByteCount)
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    var results: [Measurement] = []
    for scale in options.scales {
      let workload = Workload(count: scale, keys: .ordered)
      try workload.check()
      let runner = Runner(
        engines: try engines(workload, in: folder, options), rounds: options.rounds)
      let operations = options.only.isEmpty ? Operation.allCases : options.only
      results += try runner.run(operations, workload)
    }
    print(Report.table(results))
    if options.only.isEmpty { print("\n" + (try codecs(options))) }
    if let growth = Report.growthTable(results) { print("\n" + growth) }
    if let file = options.html { try HTMLReport.page(results).write(to: file) }
    if let file = options.json { try Report.json(results).write(to: file) }
  }

  private static func codecs(_ options: Options) throws -> String {
    let workload = Workload(count: CodecRunner.maximumCount, keys: .ordered)
    try workload.check()
    return CodecTiming.table(try CodecRunner(rounds: options.rounds).run(workload))
  }

  private static func studyWatching(_ options: Options) async throws {
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    for scale in options.scales {
      let study = WatchStudy(documents: scale, rounds: options.rounds, folder: folder)
      print(WatchStudy.markdown(try await study.run(), documents: scale))
    }
  }

  private static func studyConcurrency(_ options: Options) async throws {
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    for scale in options.scales {
      let study = ConcurrencyStudy(documents: scale, rounds: options.rounds, folder: folder)
      print(ConcurrencyStudy.markdown(try await study.run(), documents: scale))
    }
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
