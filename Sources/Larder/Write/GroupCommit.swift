internal import LarderLMDB

/// A write that waits for its turn.
final class WriteJob: Sendable {
  let engine: Engine
  /// Runs the caller's body; its result stays with the caller.
  let run: @Sendable (inout WriteScope) throws -> Void
  /// Resumes the caller, once what it did is durable or undone.
  let finish: @Sendable ((any Error)?) -> Void
  /// Whether it is so large that it should have a transaction of its own.
  let isLarge: Bool
  private let isCancelled = Locked(false)

  init(
    _ engine: Engine, isLarge: Bool, run: @escaping @Sendable (inout WriteScope) throws -> Void,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.engine = engine
    self.run = run
    self.finish = finish
    self.isLarge = isLarge
  }

  /// Prevents it, if its turn has not come.
  func cancel() { isCancelled.withLock { $0 = true } }

  fileprivate var mayRun: Bool { !isCancelled.withLock { $0 } }
}

// Writes that wait at the same time share a transaction, and with it one flush of the disk, which
// is what a durable write costs. Each is undone alone when it throws, by a transaction inside; a
// write that waits alone needs none.
//
// A thread that waits with its write shares the flush of the tasks' writes before it, which it
// waits for anyway. Two threads that wait do not share one: a transaction ends on the thread that
// began it, and each body runs on its caller's thread, as its actor may want.

extension Engine {
  /// Runs jobs that waited together, as one transaction. Called in the writer's line only.
  func run(_ group: [WriteJob]) {
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

  /// Runs `body` on the caller's thread, once its turn has come.
  func write<Result>(_ body: (inout WriteScope) throws -> Result) throws -> Result {
    try writer.inTurn { jobs in
      if jobs.isEmpty { return try storing { try perform(body) } }
      return try run(jobs, then: body)
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
      run(
        jobs + [
          WriteJob(self, isLarge: false) {
            result = try body(&$0)
          } finish: {
            failure = $0
          }
        ])
      if let failure { throw failure }
      guard let result else { preconditionFailure("a write that succeeded has no result") }
      return result
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
        // With nothing but refusals there is nothing to keep.
        _ = try transact { scope in
          while let job = rest.first {
            let outcome = Result { try scope.undoable { try $0.whole(job.run) } }
            if let needed = scope.undeclared {
              // Only what comes before it is committed.
              declaration = needed
              scope.undeclared = nil
              break
            }
            if outcome.failure?.isFullMap == true {
              needsLargerMap = true
              break
            }
            outcomes.append((job, outcome.failure.map { noting($0) }))
            rest = rest.dropFirst()
          }
        }
      }
    }
    if let error = commit.failure {
      // What a job itself has thrown is what its caller has to hear.
      for outcome in outcomes where outcome.error != nil { outcome.job.finish(outcome.error) }
      let failed = outcomes.isEmpty ? Array(rest) : outcomes.filter { $0.error == nil }.map(\.job)
      if case StoreError.full(let shortage) = error, shortage.limit == .map {
        // Each alone, which grows the map where it may.
        for job in failed {
          job.finish(Result { try storing { try perform(job.run) } }.failure)
        }
      } else {
        for job in failed { job.finish(error) }
      }
      return outcomes.isEmpty ? [] : rest
    }
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

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

// MARK: Writes of tasks

extension Store {
  /// What a job takes in the line besides the documents that are known.
  private static var jobByteCount: Int { 1024 }

  /// Returns once there is room in the line for another write. To be called before its documents
  /// are encoded.
  ///
  /// - Throws: `CancellationError`, ``StoreError/closed``.
  @usableFromInline func roomEntry() async throws -> RoomEntry {
    try checkOpen()
    return try await engine.room.enter()
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
    let result = Locked<Result?>(nil)
    let current = Locked<WriteJob?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let job = WriteJob(engine, isLarge: isLarge) { scope in
          let value = try scope.writing(as: origin, body)
          result.withLock { $0 = value }
        } finish: { [engine] error in
          engine.room.giveBack(byteCount)
          if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
        current.withLock { $0 = job }
        if Task.isCancelled { job.cancel() }
        engine.room.take(byteCount)
        engine.writer.enqueue(job)
        entry?.end()
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
    // Behind those who wait for room.
    let entry = try await roomEntry()
    defer { entry.end() }
    let engine = engine
    try await engine.writer.run { try engine.storing { try engine.environment.flush() } }
  }
}
