internal import Dispatch
internal import LarderLMDB
internal import LarderRemote
internal import LarderSync

/// An engine at work while the command's thread shows how far it is and looks at Control-C.
struct SyncRun {
  let engine: SyncEngine
  let tally: SyncTally

  /// Syncs once.
  ///
  /// - Throws: What the engine throws; `CancellationError` where it was stopped.
  func once() throws {
    let engine = engine
    var line = ProgressLine()
    defer { line.clear() }
    try wait {
      _ = try await engine.sync(.afterNow)
    } _: {
      line.show(engine.currentState.phase)
    }
  }

  /// Keeps the store in step until Control-C, with a line for each change of state.
  ///
  /// - Throws: What writing to standard output throws.
  func untilInterrupted() throws {
    let engine = engine
    let seen = Locked<[SyncState]>([])
    let listening = Task {
      for await state in engine.states { seen.withLock { $0.append(state) } }
    }
    defer { listening.cancel() }
    var line = ProgressLine()
    defer { line.clear() }
    var lines = SyncStateLines()
    do {
      try wait {
        await engine.run()
      } _: {
        for state in seen.withLock({ states in
          defer { states = [] }
          return states
        }) {
          guard let text = lines.line(for: state, tally.counts) else { continue }
          line.clear()
          try Console.print(text)
        }
        line.show(engine.currentState.phase)
      }
    } catch is CancellationError {
      // This is how it is meant to end.
    }
  }

  /// Does `body`, and calls `look` ten times a second until it is done.
  ///
  /// - Throws: What `body` or `look` throws; `CancellationError` where Control-C has stopped it.
  private func wait(
    for body: @escaping @Sendable () async throws -> Void, _ look: () throws -> Void
  ) throws {
    let result = Locked<Result<Void, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    let work = Task.detached {
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
      result.withLock { $0 = outcome }
      isDone.signal()
    }
    var isStopping = false
    while isDone.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      if Interruption.isWished, !isStopping {
        isStopping = true
        stop(work)
      }
      do { try look() } catch {
        stop(work)
        throw error
      }
    }
    try look()
    try result.withLock { $0 }?.get()
    if isStopping { throw CancellationError() }
  }

  /// Cancelling alone would leave a request of the engine under way.
  private func stop(_ work: Task<Void, Never>) {
    work.cancel()
    engine.pause()
  }
}

extension ProgressLine {
  fileprivate mutating func show(_ phase: SyncState.Phase) {
    switch phase {
    case .pulling(let count, let total?) where count > 0:
      show("pulling", fraction: Double(count) / Double(max(1, total))) { _ in
        ["\(Console.grouped(count)) of \(Console.grouped(total)) documents"]
      }
    case .pulling(let count, of: nil) where count > 0:
      show("pulling", fraction: nil) { _ in ["\(Console.grouped(count)) documents"] }
    case .pushing(let count):
      show("pushing", fraction: nil) { _ in ["\(Console.grouped(count)) left"] }
    default: clear()
    }
  }
}
