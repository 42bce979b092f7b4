import CStress
import Foundation
import Larder

/// Runs a load, and samples it.
struct LoadRun {
  private enum Part: String, CaseIterable {
    case write, read, watch
  }

  private let options: LoadOptions
  private let start = stress_now()
  private let folder: URL
  private let storeFolder: URL
  private let store: Store
  private var children: [(part: Part, child: ChildProcess, meter: LoadMeter)] = []
  private var earlier: [Part: Latencies] = [:]
  private var sampledAt = 0.0
  private var samples: [LoadSample] = []

  static func run(_ arguments: some Sequence<String>) throws {
    let options = try LoadOptions(arguments)
    guard !options.isHelp else { return say(LoadOptions.usage) }
    // Blocked here and in the processes that are started: it is waited for.
    var ending = endingSignals
    pthread_sigmask(SIG_BLOCK, &ending, nil)
    var run = try LoadRun(options)
    try run.run()
  }

  private static var endingSignals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    return set
  }

  private init(_ options: LoadOptions) throws {
    self.options = options
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("load-\(getpid())", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    storeFolder = options.folder ?? folder.appendingPathComponent("store", isDirectory: true)
    store = try Store(at: storeFolder)
  }

  private mutating func run() throws {
    defer { try? FileManager.default.removeItem(at: folder) }  // In a place for temporary files.
    let display = LoadDisplay(options)
    defer { display.end() }
    try fill()
    try startChildren()
    defer { for (_, child, _) in children { child.kill() } }
    let beginning = stress_now()
    take(since: beginning)  // Where the first one begins.
    samples = []
    var isInterrupted = false
    var failure: String?
    while sampledAt < Double(options.seconds), !isInterrupted, failure == nil {
      isInterrupted = Self.waits(milliseconds: 500)
      take(since: beginning)
      if let sample = samples.last { display.show(sample, samples) }
      failure = children.first { !$0.child.isAlive }.map { dead in
        "a process that was to \(dead.part.rawValue) ended: \(dead.child.lines().last ?? "")"
      }
    }
    for (_, child, _) in children { child.kill() }
    display.end()
    tell(isInterrupted: isInterrupted)
    if let html = options.html {
      try LoadPage(options, samples, work).page.write(to: html)
      say("The curves are in \(html.path).")
    }
    try store.close()
    if let failure { throw UsageError(failure) }
  }

  /// True when the user, or the system, wants an end before so long.
  private static func waits(milliseconds: Int) -> Bool {
    var set = endingSignals
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    return sigtimedwait(&set, nil, &time) > 0
  }

  // MARK: Processes

  /// Gives the readers something to read.
  private func fill() throws {
    let items = store.repository(of: LoadItem.self)
    guard try items.count() < LoadItem.count else { return }
    let documents = (0..<LoadItem.count).map {
      LoadItem(
        id: $0, group: $0 % LoadItem.groupCount, savedAt: Int(start),
        text: String(repeating: "larder ", count: $0 % 40))
    }
    try items.save(documents)
  }

  private mutating func startChildren() throws {
    let counts: [Part: Int] = [
      .write: options.writers, .read: options.readers, .watch: options.watchers,
    ]
    for part in Part.allCases.reversed() {
      for _ in 0..<(counts[part] ?? 0) {
        let number = children.count
        let meter = try LoadMeter(in: folder, process: number)
        let child = try ChildProcess([
          CommandLine.executable, "worker", LoadWorker.role, folder.path, storeFolder.path,
          "\(number)", part.rawValue, "\(UInt64.random(in: 0 ... .max))",
        ])
        children.append((part, child, meter))
        _ = try child.expect("open")
      }
    }
  }

  // MARK: Samples

  private var work: [LoadSample.Work] {
    [Part.write, .read, .watch].map {
      LoadSample.Work(earlier[$0] ?? .none, since: .none, seconds: sampledAt)
    }
  }

  private mutating func take(since beginning: UInt64) {
    var sample = LoadSample()
    sample.seconds = Double(stress_now() - beginning) / 1e9
    let span = sample.seconds - sampledAt
    for part in Part.allCases {
      let all = children.filter { $0.part == part }.map(\.meter.latencies).reduce(.none, +)
      let work = LoadSample.Work(all, since: earlier[part] ?? .none, seconds: span)
      earlier[part] = all
      switch part {
      case .write: sample.writes = work
      case .read: sample.reads = work
      case .watch: sample.news = work
      }
    }
    sampledAt = sample.seconds
    sample.memoryByteCount = children.reduce(0) { $0 + Self.anonymousBytes(of: $1.child.id) }
    // A figure that is missing once is drawn as 0; an error that stays ends the processes, too.
    if let statistics = try? store.statistics() {
      sample.fileByteCount = statistics.fileByteCount
      sample.freeByteCount = statistics.freeByteCount
      sample.logByteCount = statistics.logByteCount
      sample.readerSlots = statistics.readerCount
      sample.maximumReaderSlots = statistics.maximumReaderCount
      sample.documents = statistics.documentCount
      let told = children.filter { $0.part == .watch }.map(\.meter.sequence).min()
      sample.logLag = told.map { Int(statistics.sequence) - Int($0) }.map { max(0, $0) } ?? 0
    }
    samples.append(sample)
  }

  /// What the kernel says the process has for itself; 0 where it does not say.
  private static func anonymousBytes(of process: pid_t) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let count = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    else { return 0 }
    return (Int(count) ?? 0) * 1024
  }

  private func tell(isInterrupted: Bool) {
    say(
      "\(isInterrupted ? "Ended early, after" : "After") \(Int(sampledAt.rounded())) seconds, "
        + "\(options.writers) writers, \(options.readers) readers, \(options.watchers) watchers:")
    for line in LoadDisplay.table(work, width: LoadDisplay.width) { say(line) }
  }
}
