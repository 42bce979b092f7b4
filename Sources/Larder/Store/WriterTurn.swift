internal import LarderLMDB

/// A thread's place in the line.
// Guard: `hasCome` is touched only while `condition` is locked; `jobs` is written before the turn comes
// and read after it.
final class WriterTurn: @unchecked Sendable {
  /// Whether it runs the jobs before it itself.
  let takesJobs: Bool
  var jobs: [WriteJob] = []
  private var hasCome = false
  private let condition = Condition()

  init(takesJobs: Bool) { self.takesJobs = takesJobs }

  /// Waits until it has come; false where it has not by `deadline`, in seconds of ``WriteWait/now``.
  func wait(until deadline: Double?) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while !hasCome {
      guard let deadline else {
        condition.wait()
        continue
      }
      let seconds = deadline - WriteWait.now
      guard seconds > 0 else { return false }
      condition.wait(atMost: seconds)
    }
    return true
  }

  /// The jobs to be run first, once it has come.
  func takeJobs() -> [WriteJob] {
    defer { jobs = [] }
    return jobs
  }

  func come() {
    condition.withLock {
      hasCome = true
      condition.signal()
    }
  }
}
