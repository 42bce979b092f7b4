import CBench
import Foundation

/// Watches how much anonymous memory the process holds.
enum MemoryWatch {
  /// Runs `body`; returns what it gives, with the most bytes that it held beyond what there was.
  static func peak<Value>(_ body: () throws -> Value) rethrows -> (value: Value, bytes: Double) {
    bench_memory_watch()
    var isWatching = true
    defer { if isWatching { _ = bench_memory_peak() } }
    let value = try body()
    isWatching = false
    return (value, Double(bench_memory_peak()))
  }
}

/// Bytes that this process has written to files so far; only Linux tells.
func bytesWrittenToFiles() -> Int? {
  let counters = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)
  let line = counters?.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
  return line.flatMap { Int($0.dropFirst(7)) }
}
