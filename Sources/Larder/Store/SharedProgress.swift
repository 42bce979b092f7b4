internal import LarderLMDB
internal import Synchronization

/// The progress of work that several threads share, told on the caller's thread alone: its closure may
/// belong to an actor, and only there it is known whether the caller's task was cancelled.
package final class SharedProgress: @unchecked Sendable {
  private let tell: (_ completed: Int) throws -> Void
  private let completed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)
  private let callersThread = SystemCall.threadNumber
  /// What the closure has thrown. Only the caller's thread reads and writes it.
  private var error: (any Error)?

  /// Work that was stopped, for a reason that ``watching(_:)`` throws.
  private struct Stopped: Error {}

  /// - Parameter tell: Told how much is done; what it throws ends the work.
  package init(_ tell: @escaping (_ completed: Int) throws -> Void) { self.tell = tell }

  /// Adds what a thread has done.
  ///
  /// - Throws: An error without meaning where the work is to end.
  package func add(_ count: Int) throws {
    let completed = completed.add(count, ordering: .relaxed).newValue
    if isStopped.load(ordering: .relaxed) { throw Stopped() }
    guard SystemCall.threadNumber == callersThread else { return }
    do {
      try tell(completed)
    } catch {
      self.error = error
      isStopped.store(true, ordering: .relaxed)
      throw Stopped()
    }
  }

  /// How much was added.
  package var completedCount: Int { completed.load(ordering: .relaxed) }

  /// Has the work done, on whatever threads, and tells at its end how much there was: other threads may
  /// have done all of it.
  ///
  /// - Throws: What the closure has thrown, or else what `work` throws.
  package func watching<Result>(_ work: () throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try work()
    } catch {
      throw self.error ?? error
    }
    if let error { throw error }
    if completedCount > 0 { try tell(completedCount) }
    return result
  }
}
