import Foundation

/// Another process of this program that holds stores and does what it is told, one thing after the
/// other; see ``HandWorker`` for what it can do.
final class Hand {
  let process: ChildProcess
  private var hasEnded = false

  enum Answer: Equatable {
    case done([String])
    case refused(ErrorWords)
    /// It ended: its exit status, or minus the signal that ended it.
    case ended(Int32)
    /// It was silent for three minutes, and was killed.
    case silent
  }

  /// - Parameters:
  ///   - wrapper: A program with its arguments that runs it.
  ///   - environment: Variables besides those of this process.
  init(
    _ trial: Trial, wrapper: [String] = [], environment: [String: String] = [:]
  ) throws {
    let environment = environment.merging(trial.mutation?.environment ?? [:]) { old, _ in old }
    process = try ChildProcess(
      wrapper + [CommandLine.executable, "worker", HandWorker.role], environment)
  }

  /// Has it do something.
  func ask(_ words: String..., timeoutSeconds: Double = 180) -> Answer {
    process.say(words.map { $0.asWord }.joined(separator: " "))
    return answer(timeoutSeconds: timeoutSeconds)
  }

  /// Its next answer.
  func answer(timeoutSeconds: Double = 180) -> Answer {
    guard !hasEnded else { return .ended(0) }
    let start = Date()
    guard let line = process.line(timeoutSeconds: timeoutSeconds) else {
      hasEnded = true
      let isSilent = -start.timeIntervalSinceNow >= timeoutSeconds
      kill(process.id, SIGKILL)  // Nothing, where it has ended and was not waited for yet.
      let status = process.wait()
      return isSilent ? .silent : .ended(status)
    }
    var words = line.split(separator: " ").map { String($0).fromWord }
    let first = words.isEmpty ? "" : words.removeFirst()
    if first == "ok" { return .done(words) }
    return .refused(ErrorWords(kind: words.first ?? "", text: words.last ?? ""))
  }
}

extension String {
  /// As one word without spaces or line ends.
  var asWord: String {
    isEmpty ? "%" : addingPercentEncoding(withAllowedCharacters: .wordCharacters) ?? "%"
  }

  var fromWord: String { self == "%" ? "" : removingPercentEncoding ?? self }
}

extension CharacterSet {
  fileprivate static let wordCharacters = CharacterSet.alphanumerics.union(
    CharacterSet(charactersIn: "/-._=:,"))
}
