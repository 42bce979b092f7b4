/// Says whether a remote keeps the promises of ``Remote``.
///
/// ```swift
/// let report = await RemoteConformance().check(scope: "a", otherScope: "b") {
///   HTTPRemote(url: url) { _ in token }
/// }
/// print(report)
/// ```
/// Several clients race, repeat, read while others write, and send what a server may choke on. All documents are in
/// the collection `conformance`, under keys of the run's own; they are deleted at its end. Nothing of a testing
/// framework is needed, and other users may go on working in the same scopes.
public struct RemoteConformance: Sendable {
  /// What the order of racing calls and the sizes of pages follow from. The report prints it.
  public var seed: UInt64
  /// How many clients race.
  public var clientCount = 4
  /// How often each race is run.
  public var roundCount = 12
  /// How long each promise may be tried; what takes longer counts as broken.
  public var patience = Duration.seconds(60)
  /// Whether to end at the first promise that is broken.
  public var stopsAtFirst = false

  /// A run of its own.
  public init(seed: UInt64 = .random(in: 0...999_999)) { self.seed = seed }

  /// Tries every promise, one after the other. It ends, whatever the remote does, as long as calls that are
  /// cancelled end. Where its task is cancelled, the report has what was tried by then, and the documents are deleted
  /// all the same.
  ///
  /// - Parameters:
  ///   - scope: A scope that the remote's user may read and write.
  ///   - otherScope: Another one, for documents that move; without it that is left out.
  ///   - restart: Ends the server by force and starts it again; without it that is left out.
  ///   - make: Makes a client of the same user, with nothing in common with the others.
  public func check(
    scope: String, otherScope: String? = nil,
    restart: (@Sendable () async throws -> Void)? = nil,
    _ make: @Sendable () async throws -> any Remote
  ) async -> RemoteReport {
    var report = RemoteReport(seed: seed)
    let trial: RemoteTrial
    do {
      var clients: [any Remote] = []
      var facts = RemoteFacts()
      for _ in 0..<max(clientCount, 2) {
        let client = try await make()
        // A client may have to know what its server can.
        facts = try await withDeadline {
          try await RemoteTrial.whenAvailable { try await client.facts() }
        }
        clients.append(client)
      }
      trial = RemoteTrial(
        clients: clients, facts: facts, scope: scope, otherScope: otherScope, restart: restart,
        seed: seed, roundCount: roundCount)
    } catch {
      report.entries.append(
        .init(promise: "a client says what it can", outcome: .broken("\(error)")))
      return report
    }
    for promise in RemotePromise.all {
      let outcome = await outcome(of: promise, trial)
      if Task.isCancelled { break }
      report.entries.append(.init(promise: promise.sentence, outcome: outcome))
      if stopsAtFirst, !report.isGood { break }
    }
    // In a task that nobody has cancelled.
    let leftOver = await Task {
      try? await withDeadline { await trial.removeAll() }
    }.value
    report.leftOverCount = leftOver ?? trial.keyCount
    return report
  }

  private func outcome(of promise: RemotePromise, _ trial: RemoteTrial) async
    -> RemoteReport.Outcome
  {
    do {
      let found = try await withDeadline { try await promise.check(trial.begin()) }
      return .kept(found)
    } catch let fault as BrokenPromise {
      return .broken(fault.description)
    } catch let skip as LeftOut {
      return .leftOut(skip.reason)
    } catch {
      return .broken("it threw: \(error)")
    }
  }

  /// What `body` returns, if it does so in time.
  private func withDeadline<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await Task.sleep(for: patience)
        throw BrokenPromise("it was not settled within \(patience)")
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }
}

/// What a ``RemoteConformance`` has tried and found.
public struct RemoteReport: Sendable, CustomStringConvertible {
  /// What came of a promise.
  public enum Outcome: Sendable, Equatable {
    /// Nothing was found; the text says what was tried.
    case kept(String)
    /// It does not hold; the text says what was expected and found.
    case broken(String)
    /// It was not tried; the text says why.
    case leftOut(String)
  }

  /// A promise and what came of it.
  public struct Entry: Sendable, Equatable {
    /// The sentence that should be true.
    public var promise: String
    /// Whether it is.
    public var outcome: Outcome
  }

  /// Give it to another run for the same pages and the same order of racing calls.
  public var seed: UInt64
  /// In the order in which they were tried.
  public var entries: [Entry] = []
  /// Documents of the run that could not be deleted at its end, at most.
  public var leftOverCount = 0

  init(seed: UInt64) { self.seed = seed }

  /// The sentences that are not true.
  public var broken: [Entry] {
    entries.filter { if case .broken = $0.outcome { true } else { false } }
  }

  /// Whether nothing was found.
  public var isGood: Bool { broken.isEmpty && !entries.isEmpty }

  /// One line for each promise, and what was found below those that are broken.
  public var description: String {
    var lines = entries.map { entry in
      switch entry.outcome {
      case .kept(let tried): "ok        \(entry.promise) (\(tried))"
      case .broken(let found): "BROKEN    \(entry.promise)\n          \(found)"
      case .leftOut(let reason): "left out  \(entry.promise): \(reason)"
      }
    }
    if leftOverCount > 0 {
      lines.append(
        "up to \(leftOverCount) documents of the collection `conformance` were left behind")
    }
    let result = isGood ? "nothing was found" : "\(broken.count) of \(entries.count) are broken"
    lines.append("\(result); seed \(seed)")
    return lines.joined(separator: "\n")
  }
}

/// What was expected and is not so.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Why a promise cannot be tried.
struct LeftOut: Error {
  let reason: String
}

/// One thing that is true of every remote. `check` returns what it has tried.
struct RemotePromise: Sendable {
  let sentence: String
  let check: @Sendable (RemoteTrial) async throws -> String

  init(_ sentence: String, _ check: @escaping @Sendable (RemoteTrial) async throws -> String) {
    self.sentence = sentence
    self.check = check
  }

  static var all: [RemotePromise] {
    documentPromises + racePromises + repetitionPromises + batchPromises + pullPromises
      + deletionPromises + extraPromises
  }
}
