import LarderLMDB
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@Suite struct RemoteConformanceTests {
  static var facts: RemoteFacts {
    var facts = RemoteFacts.ofInMemoryRemote
    facts.maximumPushByteCount = 1 << 20
    return facts
  }

  /// A run as long as a test may be.
  static func conformance(_ random: inout RandomSource) -> RemoteConformance {
    var conformance = RemoteConformance(seed: random.next())
    conformance.roundCount = 4
    conformance.patience = .seconds(600)
    return conformance
  }

  @Test("nothing is found in the remote in memory")
  func good() async throws {
    var random = RandomSource()
    for _ in 0..<repetitions(1) {
      let server = InMemoryRemote(facts: Self.facts)
      let backup = Locked<InMemoryRemote.Backup?>(nil)

      let report = await Self.conformance(&random).check(scope: "a", otherScope: "b") {
        // Set back to what it was at that moment: nothing is lost, and cursors expire.
        backup.withLock { $0 = server.backup() }
        if let backup = backup.withLock({ $0 }) { server.restore(backup) }
      } _: {
        server.signedIn(as: "me")
      }

      #expect(report.isGood, "\(report)")
      #expect(!report.entries.contains { if case .leftOut = $0.outcome { true } else { false } })
      #expect(server.documents(in: "a").isEmpty && server.documents(in: "b").isEmpty)
    }
  }

  @Test("answers that get lost, calls that come twice and late, are no fault of a remote")
  func faultyNetwork() async throws {
    var random = RandomSource()
    let server = InMemoryRemote(facts: Self.facts)
    let numbers = Locked(random)
    server.script { call, _ in
      guard case .push = call else { return nil }
      return numbers.withLock { numbers in
        switch numbers.int(0..<12) {
        case 0: .losesAnswer
        case 1: .arrivesTwice
        case 2: .fails(.unavailable("not now", retryAfter: .milliseconds(1)))
        case 3: .putsOff(behind: numbers.int(0..<3))
        default: nil
        }
      }
    }

    let report = await Self.conformance(&random).check(scope: "a") { server }

    #expect(report.isGood, "\(report)")
  }

  @Test("every remote that breaks a promise is found", arguments: RemoteBreach.allCases)
  func mutants(breach: RemoteBreach) async throws {
    var random = RandomSource()
    let remote = BreakingRemote(breach, InMemoryRemote(facts: Self.facts))

    var conformance = Self.conformance(&random)
    conformance.stopsAtFirst = true
    conformance.patience = .seconds(20)
    let report = await conformance.check(scope: "a", otherScope: "b") { remote }

    #expect(!report.isGood, "\(breach) was not found, seed \(report.seed)")
    print("\(breach): " + report.broken.map(\.promise).joined(separator: "; "))
  }

  @Test("a report says what was tried, what was found and how to repeat it")
  func report() async throws {
    let remote = BreakingRemote(.countIsWrong, InMemoryRemote(facts: Self.facts))

    var conformance = RemoteConformance(seed: 7)
    conformance.roundCount = 2
    conformance.patience = .seconds(600)
    let report = await conformance.check(scope: "a") { remote }

    let text = report.description
    #expect(text.contains("BROKEN    a count and a manifest say what a first load gives"))
    #expect(text.contains("ok        what is pushed is pulled"))
    #expect(text.contains("left out  a document that goes to another scope"))
    #expect(text.hasSuffix("seed 7"))
  }

  @Test("a remote that cannot be asked at all is found")
  func unreachable() async throws {
    let server = InMemoryRemote()
    server.script { _, _ in .fails(.needsSignIn("who are you?")) }
    let report = await RemoteConformance().check(scope: "a") { server }
    #expect(!report.isGood)
    #expect(report.description.contains("who are you?"))
  }

  @Test("a remote that never answers ends the run, too")
  func silent() async throws {
    let remote = ClosureRemote { _ in
      try await Task.sleep(for: .seconds(100_000))
      throw CancellationError()
    } push: { _ in
      try await Task.sleep(for: .seconds(100_000))
      throw CancellationError()
    }
    var conformance = RemoteConformance()
    conformance.patience = .milliseconds(20)
    let report = await conformance.check(scope: "a") { remote }
    #expect(!report.isGood)
    #expect(report.description.contains("was not settled within 0.02 seconds"))
  }
}
