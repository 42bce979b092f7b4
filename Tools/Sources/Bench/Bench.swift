import CBench
import Foundation

/// `bench`: times engines and codecs on one workload, watching, and durable writes; `bench codecs`:
/// the codecs alone; `bench layouts`: the study of LMDB layouts; `bench concurrency`: what
/// reads get beside a writer; `bench import`: files to documents and back; `bench sync`: to a server and
/// back; `bench search`: full-text search.
@main
struct Bench {
  static func main() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      switch options.command {
      case .help: print(Options.usage)
      case .engines: try await compareEngines(options)
      case .codecs: print(try codecs(options))
      case .layouts: try studyLayouts(options)
      case .saveForWatchers(let folder): try WakeStudy.save(in: folder)
      case .concurrency: try await studyConcurrency(options)
      case .import: try studyImport(options)
      case .sync: try await studySync(options)
      case .search: try await studySearch(options)
      case .importChild(let work, let file, let store): try ImportChild.run(work, file, store)
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
    var engines: [any Engine] = [
      try CEngine(workload, in: folder, unchanged: .putAgain),
      try CEngine(workload, in: folder, unchanged: .compare),
      try SwiftLimitEngine(workload, in: folder),
      try SQLiteEngine(workload, in: folder),
      try LarderEngine(workload, in: folder, mapByteCount: options.mapByteCount),
      try LarderEngine(
        workload, in: folder, mapByteCount: options.mapByteCount, usesThreads: true),
      try CodableEngine(workload, in: folder, mapByteCount: options.mapByteCount),
      try MappedEngine(workload, in: folder, mapByteCount: options.mapByteCount),
    ]
    #if PEERS
      engines.append(try GRDBEngine(workload, in: folder))
    #endif
    return engines
  }

  private static func compareEngines(_ options: Options) async throws {
    bench_set_map_byte_count(options.mapByteCount)
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    var results: [Measurement] = []
    for scale in options.scales {
      let workload = Workload(count: scale, keys: .ordered)
      try workload.check()
      let operations = options.isWhole ? Operation.allCases : options.only
      if !operations.isEmpty {
        let engines = try engines(workload, in: folder, options)
        results += try Runner(engines: engines, rounds: options.rounds).run(operations, workload)
      }
      results += try await study(options, workload, in: folder)
    }
    print(Report.table(results))
    if options.isWhole { print("\n" + (try codecs(options))) }
    if let growth = Report.growthTable(results) { print("\n" + growth) }
    if let file = options.html { try HTMLReport.page(results, machine: Machine()).write(to: file) }
    if let file = options.json { try Report.json(results).write(to: file) }
  }

  private static func codecs(_ options: Options) throws -> String {
    let workload = Workload(count: CodecRunner.maximumCount, keys: .ordered)
    try workload.check()
    return CodecTiming.table(try CodecRunner(rounds: options.rounds).run(workload))
  }

  /// What is asked for of the studies whose rows stand in the same reports.
  private static func study(
    _ options: Options, _ workload: Workload, in folder: ScratchFolder
  ) async throws -> [Measurement] {
    let asked = options.isWhole ? StudiedOperation.allCases : options.onlyStudied
    var results: [Measurement] = []
    if asked.contains(where: StudiedOperation.streaming.contains) {
      results += try await StreamStudy(workload: workload, rounds: options.rounds, folder: folder)
        .run()
    }
    if asked.contains(where: StudiedOperation.watching.contains) {
      results += try await WatchStudy(workload: workload, rounds: options.rounds, folder: folder)
        .run()
    }
    if asked.contains(where: { $0.taskCount != nil }) {
      let disk = try ScratchFolder(in: options.diskFolder)
      defer { disk.remove() }
      results += try await DurableStudy(
        documents: workload.count, rounds: options.rounds, folder: disk
      ).run()
    }
    return results.filter { result in asked.contains { $0.rawValue == result.operation } }
  }

  private static func studyConcurrency(_ options: Options) async throws {
    let folder = try ScratchFolder(in: options.diskFolder)
    defer { folder.remove() }
    for scale in options.scales {
      let study = ConcurrencyStudy(documents: scale, rounds: options.rounds, folder: folder)
      print(ConcurrencyStudy.markdown(try await study.run(), documents: scale))
    }
  }

  private static func studyImport(_ options: Options) throws {
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    var rows: [ImportStudy.Row] = []
    for scale in options.scales {
      let study = ImportStudy(
        documents: scale, rounds: options.rounds, folder: try folder.folder("import"))
      rows += try study.run()
    }
    print(ImportStudy.table(rows))
    let results = rows.map(\.measurement)
    if let file = options.html {
      let page = HTMLReport.page(
        rows.map { MarkedMeasurement(measurement: $0.measurement, marks: $0.marks) },
        machine: Machine(), setting: "rounds in turns of one run, each a process of its own",
        reference: ImportEngine.python.rawValue, references: ImportStudy.references)
      try page.write(to: file)
    }
    if let file = options.json { try Report.json(results).write(to: file) }
  }

  private static func studySync(_ options: Options) async throws {
    let environment = ProcessInfo.processInfo.environment
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    let parts = options.onlySynced.isEmpty ? SyncStudy.Part.allCases : options.onlySynced
    for scale in options.scales where parts.contains(.outbox) {
      let disk = try ScratchFolder(in: options.diskFolder)
      defer { disk.remove() }
      let studies = [(folder, false), (disk, true)].map {
        OutboxStudy(documents: scale, rounds: options.rounds, folder: $0, isDurable: $1)
      }
      for study in studies { print(SyncStudy.table(try await study.run())) }
    }
    guard let server = environment["LARDER_SYNC_URL"].flatMap({ URL(string: $0) }),
      let token = environment["LARDER_SYNC_TOKEN"]
    else {
      print("Pushing and loading were left out: Tools/bench sync starts a server for them.")
      return
    }
    let scopes = environment["LARDER_SYNC_SCOPES"]?.split(separator: " ") ?? []
    guard scopes.count >= options.scales.count else {
      throw UsageError("bench sync needs a scope of the server for each --scale")
    }
    for (scale, scope) in zip(options.scales, scopes) {
      let study = SyncStudy(
        documents: scale, rounds: options.rounds, folder: folder, server: server, token: token,
        scope: String(scope))
      print(SyncStudy.table(try await study.run(parts)))
    }
  }

  private static func studySearch(_ options: Options) async throws {
    guard let file = options.texts else {
      throw UsageError("bench search needs --texts FILE; Tools/bench search fetches one")
    }
    let folder = try ScratchFolder(in: options.folder)
    defer { folder.remove() }
    let disk = try ScratchFolder(in: options.diskFolder)
    defer { disk.remove() }
    var rows: [MarkedMeasurement] = []
    for scale in options.scales {
      let study = SearchStudy(
        searched: try SearchTexts(count: scale, from: file), rounds: options.rounds,
        folder: folder, disk: disk, only: options.onlySearched)
      rows += try await study.run()
    }
    print(SearchStudy.table(rows))
    let results = rows.map(\.measurement)
    if let growth = Report.growthTable(results) { print("\n" + growth) }
    if let file = options.html {
      let page = HTMLReport.page(
        rows, machine: Machine(), setting: "rounds in turns of one run",
        reference: SearchEngine.fts5.rawValue, references: SearchStudy.references)
      try page.write(to: file)
    }
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
