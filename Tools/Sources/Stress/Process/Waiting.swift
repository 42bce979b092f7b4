import Foundation

/// Runs something asynchronous and waits for it, on a thread that may wait.
func waiting<Result: Sendable>(
  _ body: @escaping @Sendable () async throws -> Result
) throws -> Result {
  let box = ResultBox<Result>()
  Task.detached {
    do {
      box.result = .success(try await body())
    } catch {
      box.result = .failure(error)
    }
    box.isThere.signal()
  }
  box.isThere.wait()
  guard let result = box.result else { preconditionFailure("signalled without a result") }
  return try result.get()
}

// Guard: written before the signal, and read after it.
private final class ResultBox<Value>: @unchecked Sendable {
  var result: Result<Value, any Error>?
  let isThere = DispatchSemaphore(value: 0)
}

/// Asks again and again, until it is so; false after so many seconds.
func waits(seconds: Double = 60, for isSo: () throws -> Bool) rethrows -> Bool {
  let end = Date.now.addingTimeInterval(seconds)
  while try !isSo() {
    guard Date.now < end else { return false }
    usleep(200)
  }
  return true
}
