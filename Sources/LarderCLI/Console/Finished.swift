internal import Dispatch
internal import LarderLMDB

/// What `body` returns. Commands are synchronous; nothing else waits for this thread.
func finished<Success: Sendable>(
  endsAtInterruption: Bool = false, _ body: @escaping @Sendable () async throws -> Success
) throws -> Success {
  let result = Locked<Result<Success, any Error>?>(nil)
  let isDone = DispatchSemaphore(value: 0)
  let work = Task.detached {
    let outcome: Result<Success, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    result.withLock { $0 = outcome }
    isDone.signal()
  }
  while isDone.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
    if endsAtInterruption, Interruption.isWished { work.cancel() }
  }
  guard let outcome = result.withLock({ $0 }) else { preconditionFailure("it was signalled") }
  return try outcome.get()
}
