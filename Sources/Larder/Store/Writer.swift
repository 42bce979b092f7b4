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
  enum Entry {
    case job(WriteJob)
    case block(Block)
    case turn(WriterTurn)
  }

  /// Something else that is run in the line.
  struct Block: Sendable {
    /// Since when it stands there.
    var since = 0.0
    /// Tells whoever waits for it that it will not be run; nil where nobody waits.
    var giveUp: (@Sendable (any Error) -> Void)?
    /// Returns what tells whoever waits for it that it has run.
    let run: @Sendable () -> @Sendable () -> Void
  }

  /// What has the line.
  enum Running { case nothing, jobs, other }

  struct State {
    /// Those who wait.
    var entries = WaitingLine<Entry>()
    /// Jobs that have left the line, and may not have begun: what they share a transaction with may
    /// wait for another process.
    var group: [WriteJob] = []
    /// Whether somebody has the line, or is about to take it.
    var isTaken = false
    /// Whether the thread that was lent the line has ended its own write; nil where it shares it with no
    /// job.
    var isLenderEnded: (@Sendable () -> Bool)?
    var running = Running.nothing
    /// Since when one after the other has had the line; nil where it is free.
    var takenSince: Double?
    /// Whether jobs are looked at that have waited for too long.
    var looksForLate = false
  }

  /// What comes next once the line is free.
  enum Next {
    case jobs([WriteJob])
    case block(Block)
    case turn(WriterTurn)
    case nothing
  }

  let state = Locked(State())
  private let queue = WorkQueue("larder.writer")
  /// The thread that runs in the line, else zero.
  private let runningThread = Atomic<UInt>(0)

  /// How long a write waits for its turn; nil for without end.
  let timeoutSeconds: Double?
  /// Makes the error of one that has waited for so long.
  let timedOut: @Sendable () -> any Error
  /// Whether what runs in the line waits for another process.
  let waitsElsewhere: @Sendable () -> Bool
  /// Throws where nobody may stand in the line: in a forked child it is a copy, and whoever had it in
  /// the parent never passes it on.
  private let admit: @Sendable () throws -> Void

  init(
    timeoutSeconds: Double? = nil,
    timedOut: @escaping @Sendable () -> any Error = { CancellationError() },
    waitsElsewhere: @escaping @Sendable () -> Bool = { false },
    admit: @escaping @Sendable () throws -> Void = {}
  ) {
    self.timeoutSeconds = timeoutSeconds
    self.timedOut = timedOut
    self.waitsElsewhere = waitsElsewhere
    self.admit = admit
  }

  /// What shares a transaction at most.
  static let largestGroupCount = 512

  /// How many stand in the line, without the one that has it. For tests that wait until so many do:
  /// nothing else tells.
  var waitingCount: Int { state.withLock { $0.entries.count } }

  /// Whether the caller stands in the line: it runs inside a write. Only a thread itself can
  /// have stored its own number, so that no order is needed.
  var isInLine: Bool { runningThread.load(ordering: .relaxed) == SystemCall.threadNumber }
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
    try admit()
    if isInLine { throw StoreError.nestedWrite }
    let start = now
    let place = state.withLock { state -> (turn: WriterTurn, number: UInt64)? in
      guard state.isTaken else {
        state.isTaken = true
        state.begin(.other, at: start)
        return nil
      }
      let turn = WriterTurn(takesJobs: takingJobs)
      return (turn, state.entries.append(.turn(turn)))
    }
    if let place { try wait(for: place.turn, at: place.number, since: start) }
    let jobs = place?.turn.takeJobs() ?? []
    defer { passOn() }
    return try running { try body(jobs, timeoutSeconds.map { start + $0 }) }
  }

  /// Waits until a turn has come.
  ///
  /// - Throws: ``StoreError/writeTimedOut(path:waitedFor:)``; it has left the line then.
  private func wait(for turn: WriterTurn, at number: UInt64, since start: Double) throws {
    guard let timeoutSeconds else { return _ = turn.wait(until: nil) }
    var deadline = Double?.some(start + timeoutSeconds)
    while !turn.wait(until: deadline) {
      let hasLeft = state.withLock { state in
        let end = state.end(of: timeoutSeconds, since: start, at: now)
        guard end <= now else {
          deadline = end
          return false
        }
        if state.entries.remove(number) != nil { return true }
        // It is about to come.
        deadline = nil
        return false
      }
      if hasLeft { throw timedOut() }
    }
  }

  /// Runs `body` in its turn. A task that is cancelled before its turn comes, or has waited for too
  /// long, never runs, and does not wait for its turn to hear of it.
  ///
  /// - Parameter body: Given what says whether the task is not cancelled, to be asked where it waits for
  ///   other processes.
  /// - Throws: `CancellationError`, ``StoreError/writeTimedOut(path:waitedFor:)``, whatever `body`
  ///   throws.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) throws -> Result
  ) async throws -> Result {
    try admit()
    let place = Locked<(number: UInt64?, isCancelled: Bool)>((nil, false))
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let block = Block(
          since: now, giveUp: { continuation.resume(throwing: $0) },
          run: {
            let result = Swift.Result { try body { place.withLock { !$0.isCancelled } } }
            return { continuation.resume(with: result) }
          })
        let number = enqueue(.block(block))
        lookForLate()
        let isCancelled = place.withLock { place in
          place.number = number
          return place.isCancelled
        }
        if isCancelled { endBlock(at: number, CancellationError()) }
      }
    } onCancel: {
      let number = place.withLock { place in
        place.isCancelled = true
        return place.number
      }
      if let number { endBlock(at: number, CancellationError()) }
    }
  }

  /// Runs `body` in its turn, some time; never in a forked child, which has nothing to do in a store of
  /// its parent's.
  func enqueue(_ body: @escaping @Sendable () -> Void) {
    guard (try? admit()) != nil else { return }
    let block = Block(run: {
      body()
      return {}
    })
    _ = enqueue(.block(block))
  }

  /// Runs a job in its turn, with those that wait beside it; does nothing with one that has ended.
  func enqueue(_ job: WriteJob) {
    let start = now
    guard job.isWaiting else { return }
    job.stand(at: enqueue(.job(job)), since: start)
    lookForLate()
  }

  /// Ends a job that has not begun, and takes it out of the line. One that has begun waits for no other
  /// process any more.
  func cancel(_ job: WriteJob) {
    if job.endsForGood() { leave(job, CancellationError()) }
  }

  func leave(_ job: WriteJob, _ error: any Error) {
    if let number = job.number { _ = state.withLock { $0.entries.remove(number) } }
    job.finish(error)
  }

  /// Ends a block that is still in the line.
  func endBlock(at number: UInt64, _ error: @autoclosure () -> any Error) {
    guard case .block(let block)? = state.withLock({ $0.entries.remove(number) }) else { return }
    block.giveUp?(error())
  }

  /// Has the write of a thread that was lent the line count as one of the jobs that it runs. Its job
  /// itself is not kept, as it may not outlive the call.
  func join(_ isEnded: @escaping @Sendable () -> Bool) {
    state.withLock { state in
      state.isLenderEnded = isEnded
      state.running = .jobs
    }
  }

  /// Seconds of a clock that only goes forward, where anybody counts them.
  private var now: Double { timeoutSeconds == nil ? 0 : WriteWait.now }

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
      let isDone = WriterTurn(takesJobs: false)
      queue.async {
        self.running { lent?() }
        lent = nil
        isDone.come()
      }
      _ = isDone.wait(until: nil)
    }
    runningThread.store(SystemCall.threadNumber, ordering: .relaxed)
  }
}

// MARK: Passing the line on

extension Writer {
  /// Lends the line to whoever is next. Called by threads that were lent it, when they are done.
  private func passOn() {
    let now = now
    let (turn, needsThread) = state.withLock { state in
      state.end()
      let turn = state.takeTurn(at: now)
      if turn == nil, state.entries.isEmpty { state.free() }
      return (turn, turn == nil && state.isTaken)
    }
    turn?.come()
    if needsThread { queue.async { self.work() } }
  }

  /// Does what is next, and all behind it, up to the turn of another thread. What has come since it
  /// was called shares a transaction.
  private func work() {
    while true {
      let now = now
      switch state.withLock({ $0.takeNext(at: now) }) {
      case .turn(let turn): return turn.come()
      case .block(let block):
        let tell = running(block.run)
        // Before whoever waits for it can come again.
        state.withLock { $0.end() }
        tell()
      case .jobs(let jobs):
        running { jobs[0].engine.run(jobs) }
        state.withLock { $0.end() }
      case .nothing: return
      }
    }
  }

  private func running<Result>(_ body: () throws -> Result) rethrows -> Result {
    runningThread.store(SystemCall.threadNumber, ordering: .relaxed)
    defer { runningThread.store(0, ordering: .relaxed) }
    return try body()
  }
}
