internal import LarderLMDB

/// A write that waits for its turn.
final class WriteJob: Sendable {
  /// Runs the caller's body; its result stays with the caller.
  let run: @Sendable (inout WriteScope) throws -> Void
  /// Resumes the caller, once what it did is durable or undone.
  let finish: @Sendable ((any Error)?) -> Void
  /// Whether it is so large that it should have a transaction of its own.
  let isLarge: Bool
  private let isCancelled = Locked(false)

  init(
    isLarge: Bool, run: @escaping @Sendable (inout WriteScope) throws -> Void,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.run = run
    self.finish = finish
    self.isLarge = isLarge
  }

  /// Prevents it, if its turn has not come.
  func cancel() { isCancelled.withLock { $0 = true } }

  var mayRun: Bool { !isCancelled.withLock { $0 } }
}

/// Writes that wait, in the order in which they were asked for.
final class WriteQueue: Sendable {
  private struct State {
    var jobs: [WriteJob] = []
    var isScheduled = false
  }
  private let state = Locked(State())

  /// What shares a transaction at most.
  static let largestGroupCount = 512

  var waitingCount: Int { state.withLock { $0.jobs.count } }

  /// - Returns: Whether somebody has to be sent to take the jobs.
  func add(_ job: WriteJob) -> Bool {
    state.withLock { state in
      state.jobs.append(job)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// The next jobs that share a transaction, and whether more of them wait.
  func takeGroup() -> (jobs: [WriteJob], isLast: Bool) {
    state.withLock { state in
      let alone = state.jobs.firstIndex(where: \.isLarge)
      let end = min(alone.map { max($0, 1) } ?? .max, state.jobs.count, Self.largestGroupCount)
      let group = Array(state.jobs[..<end])
      state.jobs.removeFirst(end)
      let isLast = state.jobs.isEmpty
      if isLast { state.isScheduled = false }
      return (group, isLast)
    }
  }
}

// Writes that wait at the same time share a transaction, and with it one flush of the disk, which
// is what a durable write costs. Each is undone alone when it throws, by a transaction inside; a
// write that waits alone needs none.

extension Engine {
  func enqueue(_ job: WriteJob) {
    if jobs.add(job) { writer.enqueue { [self] in runJobs() } }
  }

  private func runJobs() {
    let (group, isLast) = jobs.takeGroup()
    // Behind those who have come in the meantime and wait with their threads.
    if !isLast { writer.enqueue { [self] in runJobs() } }
    run(group[...])
  }

  private func run(_ group: ArraySlice<WriteJob>) {
    var waiting = group.filter { job in
      if job.mayRun { return true }
      job.finish(CancellationError())
      return false
    }[...]
    while let first = waiting.first {
      if waiting.count == 1 {
        let result = Result { try storing { try perform(first.run) } }
        first.finish(result.failure)
        return
      }
      waiting = runTogether(waiting)
    }
  }

  /// Runs jobs in one transaction, and returns those that have to be run after it: what one of
  /// them needs declared first ends the group.
  private func runTogether(_ jobs: ArraySlice<WriteJob>) -> ArraySlice<WriteJob> {
    var outcomes: [(job: WriteJob, error: (any Error)?)] = []
    var declaration: Declaration?
    var needsLargerMap = false
    var rest = jobs
    let commit = Result {
      try storing {
        var scope = try WriteScope(self)
        while let job = rest.first {
          scope.origin = .local
          let outcome = Result { try scope.undoable { try $0.runWhole(job) } }
          if let needed = scope.undeclared {
            declaration = needed
            break
          }
          if outcome.failure?.isFullMap == true {
            needsLargerMap = true
            break
          }
          outcomes.append((job, outcome.failure.map { noting($0) }))
          rest = rest.dropFirst()
        }
        // With nothing but refusals there is nothing to keep.
        try scope.commit()
      }
    }
    if let error = commit.failure {
      let failed = outcomes.isEmpty ? Array(rest) : outcomes.map(\.job)
      if case StoreError.full(let shortage) = error, shortage.limit == .map {
        // Each alone, which grows the map where it may.
        for job in failed {
          job.finish(Result { try storing { try perform(job.run) } }.failure)
        }
        return outcomes.isEmpty ? [] : rest
      }
      for job in failed { job.finish(error) }
      return outcomes.isEmpty ? [] : rest
    }
    if catalogue.hasIndexWork { scheduleIndexWork() }
    for outcome in outcomes { outcome.job.finish(outcome.error) }
    guard declaration != nil || needsLargerMap, let job = rest.first else { return rest }
    // The one that needs it goes on alone: it may need more than one thing.
    let result = Result {
      try storing {
        if let declaration { try declare(declaration) }
        try perform(job.run)
      }
    }
    job.finish(result.failure)
    return rest.dropFirst()
  }
}

extension WriteScope {
  /// Runs a job, and does not let it hide that something stopped half-way.
  fileprivate mutating func runWhole(_ job: WriteJob) throws {
    try beginBody()
    try job.run(&self)
    if undeclared != nil { throw DeclarationNeeded() }
    if let failure { throw failure }
    try settle()
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

extension Store {
  /// Writes from many tasks share transactions; this is one of them.
  ///
  /// - Parameter isLarge: Whether it should have a transaction of its own.
  @usableFromInline func submit<Result: Sendable>(
    isLarge: Bool = false, _ body: @escaping @Sendable (inout WriteScope) throws -> Result
  ) async throws -> Result {
    try checkOpen()
    if engine.environment.options.isReadOnly { throw StoreError.readOnly }
    let result = Locked<Result?>(nil)
    let current = Locked<WriteJob?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let job = WriteJob(isLarge: isLarge) { scope in
          let value = try body(&scope)
          result.withLock { $0 = value }
        } finish: { error in
          if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
        current.withLock { $0 = job }
        if Task.isCancelled { job.cancel() }
        engine.enqueue(job)
      }
    } onCancel: {
      current.withLock { $0 }?.cancel()
    }
    guard let value = result.withLock({ $0 }) else {
      preconditionFailure("a write that succeeded has no result")
    }
    return value
  }

  /// Returns once every write that was asked for before is durable, whatever the store's
  /// durability.
  ///
  /// - Throws: ``StoreError`` when the disk fails.
  public func flush() async throws {
    try await submit(isLarge: true) { _ in }
    try checkOpen()
    let engine = engine
    try await engine.writer.run { try storing { try engine.environment.flush() } }
  }
}
