/// How long an environment waits, in seconds, for what hardly ever takes any time.
package struct Patience: Sendable {
  /// For others to end what they read, where the map must be moved.
  package var drainSeconds = 2.0
  /// For the thread that has LMDB's lock, and is not there, before the lock is taken for lost.
  package var lostSeconds = 2.0
}
