import Foundation
import Larder

/// Does one thing after the other to stores of its own, with calls to the system that do not go well,
/// and looks at what is left. Says for each line that it is told what it found, in one line.
struct FaultWorker: Worker {
  static let role = "fault"

  static func run(_ arguments: [String]) throws {
    guard arguments.count == 3 else { throw UsageError("fault FOLDER TEMPLATE NONCE") }
    let worker = FaultWorker(
      place: FaultPlace(arguments[0]), template: arguments[1], nonce: arguments[2],
      shim: try FaultShim())
    while let line = readLine() {
      let words = line.split(separator: " ").map { String($0).fromWord }
      say(try worker.perform(words).map { $0.asWord }.joined(separator: " "))
    }
  }

  let place: FaultPlace
  let template: String
  /// Of the crates that every store begins with.
  let nonce: String
  let shim: FaultShim

  private func perform(_ words: [String]) throws -> [String] {
    func scenario() throws -> FaultScenario {
      guard words.count > 1, let found = FaultScenario.all.first(where: { $0.name == words[1] })
      else { throw UsageError("no such scenario in \(words)") }
      return found
    }
    switch words.first {
    case "template":
      try FaultPlace.makeTemplate(template, nonce: nonce)
      return ["ok"]
    case "count":
      let result = try attempt(try scenario(), nil, nonce: words[2])
      return shim.counts.map { "\($0.kind)=\($0.count)" } + result.faults.map { "fault=" + $0 }
    case "point":
      guard let effect = Int32(words[5]).flatMap(FaultShim.Effect.init), let number = Int(words[4]),
        let error = Int32(words[6])
      else { throw UsageError("no point: \(words)") }
      let point = FaultShim.Point(
        kind: words[3], number: number, effect: effect, error: error, isSticky: words[7] == "1")
      let result = try attempt(try scenario(), point, nonce: words[2])
      return result.words
    case "judge":
      // Another process was killed in the middle of it, and had told that it was done, or not.
      return judgeKilled(try scenario(), nonce: words[2], isDone: words[3] == "1").words
    default: throw UsageError("a worker of faults cannot \(words)")
    }
  }

  /// What became of one point.
  struct Verdict {
    var hits = 0
    var isDone = false
    var counts: [String: Int] = [:]
    var faults: [String] = []

    mutating func count(_ name: String, _ fault: String) {
      counts[name, default: 0] += 1
      faults.append(fault)
    }

    var words: [String] {
      ["hits=\(hits)", "done=\(isDone ? 1 : 0)"] + counts.map { "\($0.key)=\($0.value)" }
        + faults.map { "fault=" + $0 }
    }
  }

  /// Does a scenario with one call that does not go well.
  private func attempt(
    _ scenario: FaultScenario, _ point: FaultShim.Point?, nonce new: String
  ) throws -> Verdict {
    var verdict = Verdict()
    try place.fill(from: template, scenario.begins)
    let before = scenario.begins == .absent ? [:] : FaultPlace.templateContent(nonce)
    shim.watch(place.folder)
    let descriptors = descriptorCount
    if scenario.begins == .open { try place.openStore() }
    var failure: (any Error)?
    verdict.hits = shim.run(point) {
      do {
        try scenario.act(place, new)
        // A kill that comes later is none of this scenario.
        if point?.effect == .kill || point?.effect == .torn { say("done") }
      } catch { failure = error }
    }
    verdict.isDone = failure == nil
    let expected =
      verdict.isDone
      ? [scenario.after(before, new)] : [before] + scenario.partial(before, new)
    if let failure {
      let words = ErrorWords(failure)
      let isImport = ["ImportError", "ImportInterrupted"].contains(words.kind)
      if !words.isTyped, !isImport {
        verdict.faults.append("no error of the library: [\(words.kind)] \(words.text)")
      }
      if !words.isHelpful || words.text.contains("Success") {
        verdict.faults.append("the error does not say what to do: \(words.text)")
      }
      if verdict.hits == 0 { verdict.faults.append("nothing failed, and yet: \(words.text)") }
    }
    judge(scenario, expected, failure, &verdict)
    do { try place.closeStore() } catch {
      verdict.count("leaks", "it does not close: \(error)")
      place.forgetStore()
    }
    let left = descriptorCount
    if left != descriptors {
      verdict.count("leaks", "\(left - descriptors) descriptors are left open: \(descriptorNames)")
    }
    judgeAnew(expected, &verdict)
    return verdict
  }

  /// Goes on with the store in the same process, or with a new opening where the error says so.
  private func judge(
    _ scenario: FaultScenario, _ expected: [FaultScenario.Content], _ failure: (any Error)?,
    _ verdict: inout Verdict
  ) {
    do {
      // One that could not be resumed stays suspended, and can be resumed later.
      if place.isOpen { try place.store().resume() } else { try place.openStore() }
      do {
        try compare(expected, &verdict)
      } catch {
        let texts = [failure.map { "\($0)" } ?? "", "\(error)"].joined(separator: " ")
        guard texts.contains("open it again") || texts.contains("Open it again") else {
          verdict.faults.append("it cannot be used any more, and does not say so: \(error)")
          return
        }
        verdict.counts["reopened", default: 0] += 1
        try place.closeStore()
        try place.openStore()
        try compare(expected, &verdict)
      }
      if let fault = scenario.inspect(place, verdict.isDone) { verdict.faults.append(fault) }
    } catch {
      verdict.faults.append("it cannot be used any more: \(error)")
    }
  }

  /// Opens it once more, as another process would.
  private func judgeAnew(_ expected: [FaultScenario.Content], _ verdict: inout Verdict) {
    do {
      try place.openStore()
      try compare(expected, &verdict)
      try place.closeStore()
    } catch {
      verdict.count("corrupt", "it cannot be opened again: \(error)")
      place.forgetStore()
    }
  }

  private func compare(_ expected: [FaultScenario.Content], _ verdict: inout Verdict) throws {
    var found = try place.content()
    for own in ["usable", "consumed", "marker"] where !expected.contains(where: { $0[own] != nil })
    {
      found[own] = own == "consumed" ? found[own] : nil
    }
    let report = try place.store().check()
    if !report.isSound {
      verdict.count("corrupt", "not sound: \(report.problems.prefix(2))")
    }
    if !expected.contains(found) {
      let nearest = expected[0]
      let missing = nearest.filter { found[$0.key] != $0.value }.keys.sorted().prefix(3)
      let extra = found.filter { nearest[$0.key] != $0.value }.keys.sorted().prefix(3)
      verdict.count(
        verdict.isDone ? "lost" : "phantom",
        "\(verdict.isDone ? "acknowledged" : "refused"), and without \(missing), with \(extra)")
    }
    try place.crates().save(Crate(id: "usable", nonce: UUID().uuidString))
    try place.crates().delete(keys: ["usable"])
  }

  private func judgeKilled(_ scenario: FaultScenario, nonce new: String, isDone: Bool) -> Verdict {
    var verdict = Verdict()
    verdict.isDone = isDone
    let before = scenario.begins == .absent ? [:] : FaultPlace.templateContent(nonce)
    let after = scenario.after(before, new)
    judgeAnew(isDone ? [after] : [before, after] + scenario.partial(before, new), &verdict)
    return verdict
  }

  private var descriptorCount: Int { descriptorNames.count }

  private var descriptorNames: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
      guard let target, target.hasPrefix(place.folder) else { return nil }
      return target
    }
  }
}
