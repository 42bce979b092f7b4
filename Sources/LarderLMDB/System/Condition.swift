#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A mutex, and threads that wait until what it guards has changed.
///
/// Waits that end by themselves go by a clock that only goes forward: the clock that people set may
/// be set back by an hour, and with it the end of a wait that goes by that one.
// Guard: both are made to be used by any thread.
package final class Condition: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let forkCount = Forks.current

  package init() {
    #if canImport(Darwin)
      let status = [pthread_mutex_init(mutex, nil), pthread_cond_init(condition, nil)]
    #else
      var attributes = pthread_condattr_t()
      let status = [
        pthread_mutex_init(mutex, nil), pthread_condattr_init(&attributes),
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC),
        pthread_cond_init(condition, &attributes), pthread_condattr_destroy(&attributes),
      ]
    #endif
    precondition(status.allSatisfy { $0 == 0 }, "a thread cannot wait: \(status)")
  }

  deinit {
    // In a forked child, where the threads that waited are not, the end would wait for them.
    guard forkCount == Forks.current else { return }
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  package func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Wakes one thread that waits.
  package func signal() { pthread_cond_signal(condition) }

  /// Wakes all threads that wait.
  package func broadcast() { pthread_cond_broadcast(condition) }

  /// Lets go of the lock until somebody signals. It may end without that, too.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// The same for so many seconds at most; it may end early.
  package func wait(atMost seconds: Double) {
    // No longer than a `timespec` has room for, whatever the caller asks.
    let seconds = min(max(seconds, 0), 1e6)
    #if canImport(Darwin)
      var length = timespec()
      length.tv_sec = Int(seconds)
      length.tv_nsec = Int((seconds - Double(length.tv_sec)) * 1e9)
      pthread_cond_timedwait_relative_np(condition, mutex, &length)
    #else
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      let whole = Int(seconds)
      let nanoseconds = Int(end.tv_nsec) + Int((seconds - Double(whole)) * 1e9)
      end.tv_sec += whole + nanoseconds / 1_000_000_000
      end.tv_nsec = nanoseconds % 1_000_000_000
      pthread_cond_timedwait(condition, mutex, &end)
    #endif
  }
}
