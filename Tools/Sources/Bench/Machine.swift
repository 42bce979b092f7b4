import CBench
import Foundation

/// What a run was made on and with.
struct Machine {
  /// For people, one thing a line.
  let lines: [String]

  init() {
    let process = ProcessInfo.processInfo
    let memory = Report.fixed(Double(process.physicalMemory) / Double(1 << 30), 0)
    // What stands in brackets is where it was made and when.
    let versions = [bench_lmdb_version(), bench_compiler_version()].map {
      String(cString: $0).prefix { $0 != "(" }.trimmingCharacters(in: [" ", ":"])
    }
    #if compiler(>=6.4)
      let swift = "Swift 6.4 or newer"
    #elseif compiler(>=6.3)
      let swift = "Swift 6.3"
    #else
      let swift = "Swift 6.2"
    #endif
    let sqlite = "SQLite \(String(cString: bench_sqlite_version()))"
    lines = [
      Date.now.formatted(.iso8601.year().month().day()),
      "\(process.activeProcessorCount) cores of \(Self.processor), \(memory) GiB of memory",
      process.operatingSystemVersionString,
      "\(versions[0]), \(sqlite), \(swift), \(versions[1])",
    ]
  }

  /// As the kernel calls it, where it does.
  private static var processor: String {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    return name ?? "an unnamed processor"
  }
}
