internal import LarderLMDB

// Writes that wait at the same time share a transaction, and with it one flush of the disk, which
// is what a durable write costs. Each is undone alone when it throws, by a transaction inside; a
// write that waits alone needs none.
//
// A thread that waits with its write shares the flush of the tasks' writes before it, which it
// waits for anyway. Their bodies run on the line's own thread meanwhile, where no task is current:
// on the thread that waits they would find its task, with its task-local values and its cancellation.
// Handing the transaction over and back wakes a thread twice, for all of them together; a flush of
// their own would have the thread wait for the disk once more. Two threads that wait do not share one:
// a transaction ends on the thread that began it, and each body runs on its caller's thread, as its
// actor may want.

extension Engine {
  /// Runs jobs that waited together, as one transaction. Called in the writer's line only.
  func run(_ group: [WriteJob]) {
    waiting(until: nil, isWanted: { group.contains(where: \.isWanted) }) {
      runInGroups(group[...])
    }
  }

  private func runInGroups(_ group: ArraySlice<WriteJob>) {
    // Whether a thread has the line that waits with a write of its own, the last one.
    let isLent = group.last?.isLender == true
    var waiting = group
    while let first = waiting.first {
      if waiting.count == 1 { return _ = runAlone(first, isLent: isLent) }
      waiting = runTogether(waiting, isLent: isLent)
    }
  }

  /// Runs `body` on the caller's thread, once its turn has come.
  func write<Result>(_ body: (inout WriteScope) throws -> Result) throws -> Result {
    try writer.inTurn { jobs, deadline in
      try waiting(until: deadline, isWanted: nil) {
        if jobs.isEmpty { return try storing { try perform(body) } }
        return try run(jobs, then: body)
      }
    }
  }

  /// Runs `body`, in which whoever begins to write waits for other processes as it is said here.
  private func waiting<Result>(
    until deadline: Double?, isWanted: (@Sendable () -> Bool)?, _ body: () throws -> Result
  ) rethrows -> Result {
    let usual = environment.writeWait.withLock { wait in
      defer { (wait.deadline, wait.isWanted) = (deadline, isWanted) }
      return wait
    }
    defer { environment.writeWait.withLock { $0 = usual } }
    return try body()
  }

  /// Runs `body`, work of the background: once it has waited for other processes for half a second, it does not keep
  /// others of this one waiting behind it, who may not have as much time.
  ///
  /// - Throws: `CancellationError` where it gave way; what `body` throws.
  func givingWay(_ body: () throws -> Void) throws {
    let end = WriteWait.now + 0.5
    let isWanted = { @Sendable [writer] in writer.waitingCount == 0 || WriteWait.now < end }
    do {
      try waiting(until: nil, isWanted: isWanted, body)
    } catch  where error.hasGivenWay {
      throw CancellationError()
    }
  }

  private func run<Result>(
    _ jobs: [WriteJob], then body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    try withoutActuallyEscaping(body) { body in
      // Guard: touched on this thread alone, before `run` returns.
      nonisolated(unsafe) let body = body
      nonisolated(unsafe) var result: Result?
      nonisolated(unsafe) var failure: (any Error)?
      let own = WriteJob(self, isLarge: false, isLender: true) {
        result = try body(&$0)
      } finish: {
        failure = $0
      }
      writer.join(own.hasEnded)
      runInGroups((jobs + [own])[...])
      if let failure { throw failure }
      guard let result else { preconditionFailure("a write that succeeded has no result") }
      return result
    }
  }

  /// Runs a job in a transaction of its own, after `declaration`; false where that failed.
  @discardableResult
  private func runAlone(
    _ job: WriteJob, after declaration: Declaration? = nil, isLent: Bool
  ) -> Bool {
    let result = Result {
      try waiting(for: job) {
        try storing {
          if let declaration { try declare(declaration) }
          try perform { scope in
            guard job.begins() else { throw CancellationError() }
            var outcome: Result<Void, any Error> = .success(())
            onThread(of: job, isLent: isLent) { outcome = Result { try job.run(&scope) } }
            try outcome.get()
          }
        }
      }
    }
    job.end(result.failure)
    return result.failure == nil
  }

  /// Runs `body`, in which other processes are waited for as long as the job is wanted. A thread that
  /// waits with its own has said for how long.
  private func waiting<Result>(for job: WriteJob, _ body: () throws -> Result) rethrows -> Result {
    if job.isLender { return try body() }
    return try waiting(until: nil, isWanted: { job.isWanted }, body)
  }

  /// Runs `body`, a part of the transaction that this thread has begun, where the job's body belongs.
  private func onThread(of job: WriteJob, isLent: Bool, _ body: () -> Void) {
    guard isLent, !job.isLender else { return body() }
    writer.apart {
      environment.goOnWriting()
      body()
    }
    environment.goOnWriting()
  }

  /// Runs jobs in one transaction, and returns those that have to be run after it. One that needs
  /// something declared first, or more room than there is beside the others, ends the group.
  private func runTogether(
    _ jobs: ArraySlice<WriteJob>, isLent: Bool
  ) -> ArraySlice<WriteJob> {
    var outcomes: [(job: WriteJob, error: (any Error)?)] = []
    var declaration: Declaration?
    var needsRoom = false
    var rest = jobs
    let commit = Result {
      try storing {
        // With nothing but refusals there is nothing to keep.
        _ = try transact { scope in
          while declaration == nil, !needsRoom, let first = rest.first {
            onThread(of: first, isLent: isLent) {
              while let job = rest.first, job.isLender == first.isLender {
                guard job.begins() else {
                  rest = rest.dropFirst()
                  continue
                }
                let outcome = Result { try scope.undoable { try $0.whole(job.run) } }
                if let needed = scope.undeclared {
                  // Only what comes before it is committed.
                  declaration = needed
                  scope.undeclared = nil
                  break
                }
                // Alone it may have the map grown, and what only deletes leaves less in the log.
                if let error = outcome.failure,
                  error.isFullMap || scope.hasOnlyDeleted && shortage(error) != nil
                {
                  needsRoom = true
                  break
                }
                outcomes.append((job, outcome.failure.map { noting($0) }))
                rest = rest.dropFirst()
              }
            }
          }
        }
      }
    }
    if let error = commit.failure {
      // What a job itself has thrown is what its caller has to hear.
      for outcome in outcomes where outcome.error != nil { outcome.job.end(outcome.error) }
      let failed = outcomes.isEmpty ? Array(rest) : outcomes.filter { $0.error == nil }.map(\.job)
      end(failed, after: error, isLent: isLent)
      return outcomes.isEmpty ? [] : rest
    }
    // The thread's own first: whoever hears of another one may come again at once, and is to find
    // nothing before it.
    if let own = outcomes.last, own.job.isLender { own.job.end(own.error) }
    for outcome in outcomes { outcome.job.end(outcome.error) }
    guard declaration != nil || needsRoom, let job = rest.first else { return rest }
    // The one that needs it goes on alone: it may need more than one thing.
    runAlone(job, after: declaration, isLent: isLent)
    return rest.dropFirst()
  }

  /// Ends jobs whose common commit has failed. Where there was no room, each is tried alone: one that
  /// was too large must not fail the others, and what needs a larger map has it grown where it may.
  private func end(_ jobs: [WriteJob], after error: any Error, isLent: Bool) {
    guard mayLackRoom(error) else { return jobs.forEach { $0.end(error) } }
    var failureCount = 0
    for job in jobs {
      // A disk that fails for another reason fails them all, and is not tried for each of them.
      if failureCount >= 3, shortage(error) == nil {
        job.end(error)
      } else if !runAlone(job, isLent: isLent) {
        failureCount += 1
      } else {
        failureCount = 0
      }
    }
  }

  /// Some file systems write what fits and say nothing of the rest, which LMDB takes for a failure of
  /// the disk; afterwards there may be room again.
  private func mayLackRoom(_ error: any Error) -> Bool {
    if case StoreError.storage(let error) = error {
      return error.code == .system(errno: SystemErrors.inputOutput)
    }
    return shortage(error) != nil
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

// MARK: Writes of tasks

extension Engine {
  /// Runs `body` in the writer's line for a task. Cancelling that ends its waiting, in the line and for
  /// other processes.
  ///
  /// - Parameter body: Given what says whether the task is not cancelled.
  /// - Throws: `CancellationError`, ``StoreError``, or whatever `body` throws.
  func inLine<Result: Sendable>(
    _ body: @escaping @Sendable (_ isWanted: () -> Bool) throws -> Result
  ) async throws -> Result {
    try await writer.run { [self] isWanted in
      try waiting(until: nil, isWanted: isWanted) { try storing { try body(isWanted) } }
    }
  }
}

extension Store {
  /// What a job takes in the line besides the documents that are known.
  private static var jobByteCount: Int { 1024 }

  /// Returns once there is room in the line for another write. To be called before its documents
  /// are encoded.
  ///
  /// - Throws: `CancellationError`, ``StoreError/closed``,
  ///   ``StoreError/writeTimedOut(path:waitedFor:)``.
  @usableFromInline func roomEntry() async throws -> RoomEntry {
    try checkOpen()
    return try await engine.room.enter(timeoutSeconds: engine.writeTimeoutSeconds) { [engine] in
      engine.writeTimedOut()
    }
  }

  /// Writes from many tasks share transactions; this is one of them.
  ///
  /// - Parameters:
  ///   - origin: Where its changes come from.
  ///   - isLarge: Whether it should have a transaction of its own.
  ///   - byteCount: What the body holds in memory while it waits.
  ///   - entry: The leave to stand in the line, where it was asked for already.
  @usableFromInline func submit<Result: Sendable>(
    as origin: ChangeOrigin, isLarge: Bool = false, byteCount: Int = 0, entry: RoomEntry? = nil,
    _ body: @escaping @Sendable (inout WriteScope) throws -> Result
  ) async throws -> Result {
    try checkOpen()
    if engine.environment.options.isReadOnly { throw StoreError.readOnly }
    var entry = entry
    if entry == nil { entry = try await roomEntry() }
    let byteCount = byteCount + Self.jobByteCount
    let rider = AttachedNote.rider(origin, engine)
    let result = Locked<Result?>(nil)
    let current = Locked<WriteJob?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let isLarge = isLarge || byteCount > engine.space.largeByteCount
        let job = WriteJob(engine, isLarge: isLarge) { scope in
          let value = try scope.writing(as: origin, with: rider, body)
          result.withLock { $0 = value }
        } finish: { [engine] error in
          engine.room.giveBack(byteCount)
          if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
        engine.room.take(byteCount)
        current.withLock { $0 = job }
        // What was cancelled before that was not found.
        if Task.isCancelled { engine.writer.cancel(job) }
        engine.writer.enqueue(job)
        entry?.end()
      }
    } onCancel: {
      if let job = current.withLock({ $0 }) { engine.writer.cancel(job) }
    }
    rider?.arrived()
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
    // Behind those who wait for room.
    let entry = try await roomEntry()
    defer { entry.end() }
    let engine = engine
    try await engine.inLine { _ in try engine.environment.flush() }
  }
}

extension Error {
  /// Whether a wait for other processes has ended because nobody wants it any more.
  var hasGivenWay: Bool { (self as? LMDBError)?.code == .cancelled }
}
