import Foundation

/// The processes that the points are tried in.
struct FaultStage {
  private let trial: Trial
  private let environment: [String: String]
  private let arguments: [String]
  private var worker: ChildProcess

  init(_ trial: Trial, folder: URL, environment: [String: String]) throws {
    self.trial = trial
    self.environment = environment
    arguments = [
      folder.appendingPathComponent("point").path, folder.appendingPathComponent("template").path,
      "n\(trial.seed)",
    ]
    mkdir(arguments[1], 0o755)
    worker = try Self.start(trial, arguments, environment)
    // Made without anything broken: what is looked for is what the points do.
    let maker = try ChildProcess(
      [CommandLine.executable, "worker", FaultWorker.role] + arguments, environment)
    maker.say("template")
    _ = try maker.expect("ok")
  }

  private static func start(
    _ trial: Trial, _ arguments: [String], _ environment: [String: String]
  ) throws -> ChildProcess {
    try trial.start(
      FaultWorker.role, arguments[0], arguments[1], arguments[2], environment: environment)
  }

  /// How often a scenario makes each call, and what is wrong with it even so.
  mutating func count(_ scenario: FaultScenario) throws -> ([(String, Int)], [String]) {
    // The first time more is done than later.
    var words: [String] = []
    for _ in 0..<2 {
      worker.say("count \(scenario.name) counting")
      guard let line = worker.line(timeoutSeconds: 120) else {
        return ([], ["the worker ended with \(worker.wait())"])
      }
      words = line.split(separator: " ").map { String($0).fromWord }
    }
    let pairs = words.filter { !$0.hasPrefix("fault=") }.compactMap { word -> (String, Int)? in
      let parts = word.split(separator: "=")
      return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
    }
    return (pairs, words.filter { $0.hasPrefix("fault=") }.map { String($0.dropFirst(6)) })
  }

  /// A point that the process survives.
  mutating func attempt(_ target: FaultCampaign.Target, _ nonce: String) throws -> Tally {
    worker.say(line(target, nonce))
    return try read(target, isDone: nil)
  }

  /// A point that is the last of its process, which tells when it is done.
  mutating func kill(_ target: FaultCampaign.Target, _ nonce: String) throws -> Tally {
    let other = try Self.start(trial, arguments, environment)
    other.say(line(target, nonce))
    let word = other.line(timeoutSeconds: 120)
    other.kill()
    worker.say("judge \(target.scenario.name) \(nonce) \(word == "done" ? 1 : 0)")
    return try read(target, isDone: word == "done")
  }

  private func line(_ target: FaultCampaign.Target, _ nonce: String) -> String {
    let point = target.point
    return "point \(target.scenario.name) \(nonce) \(point.kind) \(point.number) "
      + "\(point.effect.rawValue) \(point.error) \(point.isSticky ? 1 : 0)"
  }

  private mutating func read(_ target: FaultCampaign.Target, isDone: Bool?) throws -> Tally {
    var tally = Tally()
    tally.cycles = 1
    let place = "\(target.scenario.name), \(target.point)"
    let start = Date()
    guard let line = worker.line(timeoutSeconds: 120) else {
      let isSilent = -start.timeIntervalSinceNow >= 120
      if isSilent { Foundation.kill(worker.id, SIGKILL) }
      let status = worker.wait()
      if status < 0, !isSilent { tally.signals += 1 }
      tally.faults.append("\(place): the process \(isSilent ? "hangs" : "ended with \(status)")")
      worker = try Self.start(trial, arguments, environment)
      return tally
    }
    for word in line.split(separator: " ").map({ String($0).fromWord }) {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        tally.faults.append("\(place): \(word)")
        continue
      }
      let number = Int(parts[1]) ?? 0
      switch parts[0] {
      case "hits": if number > 0 { tally.count("hit") }
      case "done": tally.acked += number
      case "lost": tally.lost += number
      case "phantom": tally.phantom += number
      case "corrupt": tally.corrupt += number
      case "leaks": tally.count("leaks", number)
      case "reopened": tally.count("reopened", number)
      default: tally.faults.append("\(place): \(parts[1])")
      }
    }
    return tally
  }
}
