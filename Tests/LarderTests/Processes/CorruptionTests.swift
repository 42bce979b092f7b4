import Foundation
import Testing

/// Two thousand damaged files; `LARDER_CORRUPTIONS` sets another number, `LARDER_SEED` repeats a run.
@Suite(.timeLimit(.minutes(20))) struct CorruptionTests {
  private let folder = TestFolder()

  @Test("a damaged file is refused, told of or harmless, and ends no process")
  func campaign() throws {
    let total =
      ProcessInfo.processInfo.environment["LARDER_CORRUPTIONS"].flatMap { Int($0) } ?? 2000
    let random = RandomSource()
    var counts: [String: Int] = [:]
    var failures: [String] = []
    var signals = 0
    var next = 0

    while next < total, failures.count < 20 {
      // One that dies is followed by another, behind the damage that it died of.
      let process = try OtherProcess(
        "corrupt", folder.path, "\(random.seed)", "\(next)", "\(total)")
      while let line = process.line() {
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2, Int(words[0]) == next else {
          Issue.record("it said: \(line)")
          return
        }
        next += 1
        counts[String(words[1].prefix { $0 != " " }), default: 0] += 1
        if words[1].hasPrefix("failed") { failures.append(line) }
      }
      process.kill()
      guard next < total else { break }
      signals += 1
      failures.append("\(next) ended the process or was silent for a minute")
      next += 1
    }

    let summary = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    print(
      "CAMPAIGN corrupt seed=\(random.seed) cycles=\(next) \(summary.joined(separator: " "))"
        + " signals=\(signals) RESULT=\(failures.isEmpty ? "pass" : "fail")")
    for failure in failures { Issue.record("\(random.hint): \(failure)") }
    #expect(counts["refused", default: 0] > total / 4)
    #expect(counts["told", default: 0] > 0)
    #expect(counts["harmless", default: 0] > 0)
  }
}
