#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A value that only one thread at a time can reach.
///
/// `Synchronization.Mutex` would do the same, but on Linux the thread sanitizer cannot see it
/// and reports races that are none; a pthread mutex it sees. Of a `Value` without a size it would
/// take the object itself for the place: a `Bool` that nobody looks at serves as well.
// Guard: `value` is touched only while `mutex` is held.
public final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline var value: Value

  /// Guards `value`, which nobody else may keep a reference to.
  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "pthread_mutex_init failed with \(status)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` alone with the value.
  ///
  /// `body` must not lock the same value again (it would wait for itself for ever), and must
  /// not let a reference out of the value escape.
  ///
  /// - Throws: Whatever `body` throws; what it had changed by then stays changed.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }

  /// Runs `body` alone with the value, or returns nil at once where somebody else has it.
  public func withLockIfFree<Result>(_ body: (inout Value) -> Result) -> Result? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unlock() }
    return body(&value)
  }

  /// Also for `pthread_atfork`, whose three handlers cannot share a closure.
  @usableFromInline func lock() { pthread_mutex_lock(mutex) }

  @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }
}
