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
    var entries: [Entry] = []
    /// Whether somebody has the line.
    var isTaken = false
  }

  /// What comes next once the line is free.
  fileprivate enum Next {
    case jobs([WriteJob])
    case block(@Sendable () -> Void)
    case turn(Turn)
    case nothing
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "larder.writer", qos: .userInitiated)
  /// The thread that runs in the line, else zero.
  private let runningThread = Atomic<UInt>(0)

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
  ///   for ever; whatever `body` throws.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    try inTurn(takingJobs: false) { _ in try body() }
  }

  /// Runs `body` in its turn and waits for it. It is given the jobs that stood right before it in
  /// the line, which it waits for in any case, to be run first.
  ///
  /// - Throws: As ``run(_:)-(()->_)``.
  func inTurn<Result>(
    takingJobs: Bool = true, _ body: ([WriteJob]) throws -> Result
  ) throws -> Result {
    if isInLine { throw StoreError.nestedWrite }
    let turn = state.withLock { state -> Turn? in
      guard state.isTaken else {
        state.isTaken = true
        return nil
      }
      let turn = Turn(takesJobs: takingJobs)
      state.entries.append(.turn(turn))
      return turn
    }
    let jobs = turn?.wait() ?? []
    defer { passOn() }
    return try running { try body(jobs) }
  }

  /// Runs `body` in its turn. A task that is cancelled before its turn comes never runs.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let isCancelled = Locked(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue {
          continuation.resume(
            with: Swift.Result {
              if isCancelled.withLock({ $0 }) { throw CancellationError() }
              return try body()
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }

  /// Runs `body` in its turn, some time.
  func enqueue(_ body: @escaping @Sendable () -> Void) { enqueue(.block(body)) }

  /// Runs a job in its turn, with those that wait beside it.
  func enqueue(_ job: WriteJob) { enqueue(.job(job)) }

  private func enqueue(_ entry: Entry) {
    let needsThread = state.withLock { state in
      state.entries.append(entry)
      defer { state.isTaken = true }
      return !state.isTaken
    }
    if needsThread { queue.async { self.work() } }
  }
}

// MARK: Passing the line on

extension Writer {
  /// Lends the line to whoever is next. Called by threads that were lent it, when they are done.
  private func passOn() {
    let (turn, needsThread) = state.withLock { state in
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
      case .jobs(let jobs): running { jobs[0].engine.run(jobs) }
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
      return .jobs(jobs)
    }
    if case .block(let body)? = entries.first {
      entries.removeFirst()
      return .block(body)
    }
    isTaken = false
    return .nothing
  }

  /// The turn that is next, with the jobs before it that it runs; nil where it is not next.
  fileprivate mutating func takeTurn() -> Turn? { takeTurn(behind: jobsTogether()) }

  private mutating func takeTurn(behind jobs: [WriteJob]) -> Turn? {
    guard jobs.count < min(entries.count, Writer.largestGroupCount),
      case .turn(let turn) = entries[jobs.count],
      jobs.isEmpty || turn.takesJobs && !jobs[0].isLarge
    else { return nil }
    entries.removeFirst(jobs.count + 1)
    turn.jobs = jobs
    return turn
  }

  /// The jobs that stand first in the line, as far as they share a transaction.
  private func jobsTogether() -> [WriteJob] {
    var jobs: [WriteJob] = []
    for case .job(let job) in entries.prefix(Writer.largestGroupCount).prefix(while: \.isJob) {
      // A large one runs alone.
      if !jobs.isEmpty, job.isLarge || jobs[0].isLarge { break }
      jobs.append(job)
    }
    return jobs
  }
}

extension Writer.Entry {
  fileprivate var isJob: Bool { if case .job = self { true } else { false } }
}

/// A thread's place in the line.
// Guard: `hasCome` is touched only while `mutex` is held; `jobs` is written before the turn comes
// and read after it.
private final class Turn: @unchecked Sendable {
  /// Whether it runs the jobs before it itself.
  let takesJobs: Bool
  var jobs: [WriteJob] = []
  private var hasCome = false
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(takesJobs: Bool) {
    self.takesJobs = takesJobs
    let status = (pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil))
    precondition(status == (0, 0), "a thread cannot wait: \(status)")
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Returns the jobs to be run first.
  func wait() -> [WriteJob] {
    pthread_mutex_lock(mutex)
    while !hasCome { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
    defer { jobs = [] }
    return jobs
  }

  func come() {
    pthread_mutex_lock(mutex)
    hasCome = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }
}
