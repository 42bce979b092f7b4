internal import Dispatch
internal import LarderLMDB
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The one line that all writes of a process stand in, in the order in which they were asked for.
///
/// Jobs of tasks, which no thread waits with, are run by a queue of the line's own, so that
/// neither fsync nor another process's lock ever blocks the cooperative pool. A thread that waits
/// for its turn is lent the line, and does everything from begin to commit itself: what it runs
/// may belong to its actor.
final class Writer: Sendable {
  fileprivate enum Entry {
    case job(WriteJob)
    case block(@Sendable () -> Void)
    case turn(Turn)
  }

  fileprivate struct State {
    /// Those who wait.
    var entries = WaitingLine<Entry>()
    /// Jobs that have left the line, and may not have begun: what they share a transaction with may
    /// wait for another process.
    var group: [WriteJob] = []
    /// Whether somebody has the line.
    var isTaken = false
    /// Whether jobs are looked at that have waited for too long.
    var looksForLate = false
  }

  /// What comes next once the line is free.
  fileprivate enum Next {
    case jobs([WriteJob])
    case block(@Sendable () -> Void)
    case turn(Turn)
    case nothing
  }

  private let state = Locked(State())
  private let queue = WorkQueue("larder.writer")
  /// The thread that runs in the line, else zero.
  private let runningThread = Atomic<UInt>(0)

  /// How long a write waits for its turn; nil for without end.
  private let timeoutSeconds: Double?
  /// Makes the error of one that has waited for so long.
  private let timedOut: @Sendable () -> any Error

  init(
    timeoutSeconds: Double? = nil,
    timedOut: @escaping @Sendable () -> any Error = { CancellationError() }
  ) {
    self.timeoutSeconds = timeoutSeconds
    self.timedOut = timedOut
  }

  /// What shares a transaction at most.
  static let largestGroupCount = 512

  /// How many stand in the line, without the one that has it. For tests that wait until so many do:
  /// nothing else tells.
  var waitingCount: Int { state.withLock { $0.entries.count } }

  /// Whether the caller stands in the line: it runs inside a write. Only a thread itself can
  /// have stored its own number, so that no order is needed.
  var isInLine: Bool { runningThread.load(ordering: .relaxed) == Self.thisThread }

  private static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}

// MARK: Standing in the line

extension Writer {
  /// Runs `body` in its turn and waits for it.
  ///
  /// - Throws: ``StoreError/nestedWrite`` from within the line itself, where waiting would be
  ///   for ever; ``StoreError/writeTimedOut(path:waitedFor:)``; whatever `body` throws.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    try inTurn(takingJobs: false) { _, _ in try body() }
  }

  /// Runs `body` in its turn and waits for it. It is given the jobs that stood right before it in
  /// the line, which it waits for in any case, to be run first; and when it gives up waiting for other
  /// processes.
  ///
  /// - Throws: As ``run(_:)-(()->_)``.
  func inTurn<Result>(
    takingJobs: Bool = true, _ body: ([WriteJob], _ deadline: Double?) throws -> Result
  ) throws -> Result {
    if isInLine { throw StoreError.nestedWrite }
    let deadline = timeoutSeconds.map { WriteWait.now + $0 }
    let place = state.withLock { state -> (turn: Turn, number: UInt64)? in
      guard state.isTaken else {
        state.isTaken = true
        return nil
      }
      let turn = Turn(takesJobs: takingJobs)
      return (turn, state.entries.append(.turn(turn)))
    }
    if let place, !place.turn.wait(until: deadline) {
      if state.withLock({ $0.entries.remove(place.number) }) != nil { throw timedOut() }
      // It is about to come.
      _ = place.turn.wait(until: nil)
    }
    let jobs = place?.turn.takeJobs() ?? []
    defer { passOn() }
    return try running { try body(jobs, deadline) }
  }

  /// Runs `body` in its turn. A task that is cancelled before its turn comes, or has waited for too
  /// long, never runs, and does not wait for its turn to hear of it.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let place = Locked<(end: (@Sendable (any Error) -> Void)?, isCancelled: Bool)>((nil, false))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let number = enqueue(
          .block { continuation.resume(with: Swift.Result { try body() }) })
        let end: @Sendable (any Error) -> Void = { [self] error in
          guard state.withLock({ $0.entries.remove(number) }) != nil else { return }
          continuation.resume(throwing: error)
        }
        let isCancelled = place.withLock { place in
          place.end = end
          return place.isCancelled
        }
        if isCancelled { end(CancellationError()) }
        if let timeoutSeconds {
          DispatchQueue.global().asyncAfter(deadline: .now() + timeoutSeconds) { [timedOut] in
            end(timedOut())
          }
        }
      }
    } onCancel: {
      let end = place.withLock { place in
        place.isCancelled = true
        return place.end
      }
      end?(CancellationError())
    }
  }

  /// Runs `body` in its turn, some time.
  func enqueue(_ body: @escaping @Sendable () -> Void) { _ = enqueue(.block(body)) }

  /// Runs a job in its turn, with those that wait beside it; does nothing with one that has ended.
  func enqueue(_ job: WriteJob) {
    let deadline = timeoutSeconds.map { WriteWait.now + $0 }
    guard job.isWaiting else { return }
    job.stand(at: enqueue(.job(job)), until: deadline)
    if deadline != nil { lookForLate() }
  }

  /// Ends a job that has not begun, and takes it out of the line.
  func cancel(_ job: WriteJob) { end(job, CancellationError()) }

  private func end(_ job: WriteJob, _ error: @autoclosure () -> any Error) {
    guard job.endsEarly() else { return }
    if let number = job.number { _ = state.withLock { $0.entries.remove(number) } }
    job.finish(error())
  }

  /// Ends jobs that have waited for too long, now and again, as long as some wait.
  private func lookForLate() {
    guard let timeoutSeconds else { return }
    let isFirst = state.withLock { state in
      defer { state.looksForLate = true }
      return !state.looksForLate
    }
    if isFirst { lookForLate(in: timeoutSeconds) }
  }

  private func lookForLate(in seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self else { return }
      let now = WriteWait.now
      let (late, next) = state.withLock { state -> ([WriteJob], Double?) in
        var (late, next) = ([WriteJob](), Double?.none)
        let inLine = state.entries.elements.compactMap { entry in
          if case .job(let job) = entry { job } else { nil }
        }
        for job in state.group + inLine {
          guard job.isWaiting, let deadline = job.deadline else { continue }
          if deadline <= now { late.append(job) } else { next = min(next ?? deadline, deadline) }
        }
        state.looksForLate = next != nil
        return (late, next)
      }
      for job in late { end(job, timedOut()) }
      if let next { lookForLate(in: max(next - now, 0.001)) }
    }
  }

  private func enqueue(_ entry: Entry) -> UInt64 {
    let (number, needsThread) = state.withLock { state in
      defer { state.isTaken = true }
      return (state.entries.append(entry), !state.isTaken)
    }
    if needsThread { queue.async { self.work() } }
    return number
  }

  /// Runs `body` on the line's own thread, which has no current task and no task-local values, and
  /// waits for it. Called by a thread that was lent the line.
  func apart(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      // Guard: touched by one of the two threads at a time; the caller waits meanwhile. Emptied before
      // it goes on: the queue may let go of what it ran later than that.
      nonisolated(unsafe) var lent: (() -> Void)? = body
      let isDone = Turn(takesJobs: false)
      queue.async {
        self.running { lent?() }
        lent = nil
        isDone.come()
      }
      _ = isDone.wait(until: nil)
    }
    runningThread.store(Self.thisThread, ordering: .relaxed)
  }
}

// MARK: Passing the line on

extension Writer {
  /// Lends the line to whoever is next. Called by threads that were lent it, when they are done.
  private func passOn() {
    let (turn, needsThread) = state.withLock { state in
      state.group = []
      let turn = state.takeTurn()
      state.isTaken = turn != nil || !state.entries.isEmpty
      return (turn, turn == nil && state.isTaken)
    }
    turn?.come()
    if needsThread { queue.async { self.work() } }
  }

  /// Does what is next, and all behind it, up to the turn of another thread. What has come since it
  /// was called shares a transaction.
  private func work() {
    while true {
      switch state.withLock({ $0.takeNext() }) {
      case .turn(let turn): return turn.come()
      case .block(let body): running(body)
      case .jobs(let jobs):
        running { jobs[0].engine.run(jobs) }
        state.withLock { $0.group = [] }
      case .nothing: return
      }
    }
  }

  private func running<Result>(_ body: () throws -> Result) rethrows -> Result {
    runningThread.store(Self.thisThread, ordering: .relaxed)
    defer { runningThread.store(0, ordering: .relaxed) }
    return try body()
  }
}

extension Writer.State {
  /// What is next, or nothing, and the line is free then.
  fileprivate mutating func takeNext() -> Writer.Next {
    let jobs = jobsTogether()
    if let turn = takeTurn(behind: jobs) { return .turn(turn) }
    if !jobs.isEmpty {
      entries.removeFirst(jobs.count)
      group = jobs
      return .jobs(jobs)
    }
    if case .block(let body)? = entries.popFirst() { return .block(body) }
    isTaken = false
    return .nothing
  }

  /// The turn that is next, with the jobs before it that it runs; nil where it is not next.
  fileprivate mutating func takeTurn() -> Turn? { takeTurn(behind: jobsTogether()) }

  private mutating func takeTurn(behind jobs: [WriteJob]) -> Turn? {
    guard jobs.count < min(entries.count, Writer.largestGroupCount),
      case .turn(let turn)? = entries.elements.dropFirst(jobs.count).first(where: { _ in true }),
      jobs.isEmpty || turn.takesJobs && !jobs[0].isLarge
    else { return nil }
    entries.removeFirst(jobs.count + 1)
    group = jobs
    turn.jobs = jobs
    return turn
  }

  /// The jobs that stand first in the line, as far as they share a transaction.
  private func jobsTogether() -> [WriteJob] {
    var jobs: [WriteJob] = []
    for entry in entries.elements {
      guard case .job(let job) = entry, jobs.count < Writer.largestGroupCount else { break }
      // A large one runs alone.
      if !jobs.isEmpty, job.isLarge || jobs[0].isLarge { break }
      jobs.append(job)
    }
    return jobs
  }
}

/// A thread's place in the line.
// Guard: `hasCome` is touched only while `condition` is locked; `jobs` is written before the turn comes
// and read after it.
private final class Turn: @unchecked Sendable {
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
