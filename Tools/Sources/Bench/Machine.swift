import CBench
import Foundation

/// What a run was made on and with.
struct Machine {
  /// For people, one thing a line.
  let lines: [String]

  init() {
    let process = ProcessInfo.processInfo
    let memory = Report.fixed(Double(process.physicalMemory) / Double(1 << 30), 0)
    let versions = [
      "LMDB \(String(cString: bench_lmdb_version()))",
      "SQLite \(String(cString: bench_sqlite_version()))",
      "compiler \(String(cString: bench_compiler_version()))",
    ]
    lines = [
      Date.now.formatted(.iso8601.year().month().day()),
      "\(process.activeProcessorCount) cores of \(Self.processor), \(memory) GiB of memory",
      process.operatingSystemVersionString, versions.joined(separator: ", "),
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
