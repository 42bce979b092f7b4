import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

/// Two processes, each with a stream that a limiter of one name refreshes once a minute.
@Suite(.timeLimit(.minutes(20))) struct SharedLimiterTests {
  private let folder = TestFolder()

  private func begin() throws -> OtherProcess { try OtherProcess("refresh", folder.store) }

  /// Lets time pass in a process.
  private func advance(_ process: OtherProcess, _ seconds: Int) {
    process.say("advance \(seconds)")
  }

  /// Answers the one request of a process, which then waits for so many seconds.
  private func expectRequest(
    _ process: OtherProcess, _ answer: String = "answer", waits wait: String = "60.0"
  ) throws {
    _ = try process.expect("request")
    process.say(answer)
    #expect(try process.expect("waits") == wait)
  }

  /// A process looks what is due, and waits without a request.
  private func expectQuiet(_ process: OtherProcess, waits wait: String = "60.0") throws {
    #expect(try process.expect("waits") == wait)
  }

  private func expectNotes(_ count: Int) throws {
    let store = try Store(at: folder.store)
    #expect(try store.repository(of: Note.self).count() == count)
    try verifyAndClose(store)
  }

  @Test("two processes make one request together in each interval, whichever is first")
  func interval() throws {
    let processes = [try begin()]
    try expectRequest(processes[0])
    let both = processes + [try begin()]
    try expectQuiet(both[1])

    for round in 1...6 {
      let (first, second) = (both[round % 2], both[(round + 1) % 2])
      advance(first, 60)
      try expectRequest(first)
      advance(second, 60)
      try expectQuiet(second)
    }

    for process in both { #expect(process.finish().isEmpty) }
    try expectNotes(7)
  }

  @Test("what failed in one process is tried again by one of them, after one pause")
  func failure() throws {
    let first = try begin()
    try expectRequest(first, "refuse", waits: "1.0 Refused")
    let second = try begin()
    try expectQuiet(second, waits: "1.0 EarlierFailure")

    advance(second, 1)
    try expectRequest(second, "refuse", waits: "2.0 Refused")
    advance(first, 1)
    try expectQuiet(first, waits: "2.0 EarlierFailure")
    advance(first, 2)
    try expectRequest(first)
    advance(second, 2)
    try expectQuiet(second)

    for process in [first, second] { #expect(process.finish().isEmpty) }
    try expectNotes(1)
  }

  @Test(
    "a process that is killed while it fetches or saves holds up no other",
    arguments: [false, true])
  func killed(isSaving: Bool) throws {
    let first = try begin()
    try expectRequest(first)
    let second = try begin()
    try expectQuiet(second)
    advance(first, 60)
    _ = try first.expect("request")
    if isSaving {
      first.say("hold")
      _ = try first.expect("saving")
    }

    first.kill()
    advance(second, 60)
    try expectRequest(second)

    #expect(second.finish().isEmpty)
    try expectNotes(2)
  }
}
