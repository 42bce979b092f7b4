import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Counts the forks that lead from the first process to this one: an environment opened under
/// another count belongs to an ancestor, and this process may not touch it.
enum Forks {
  static let count = Atomic<Int>(0)

  static var current: Int {
    @inline(__always) get { count.load(ordering: .relaxed) }
  }

  static var processID: Int32 { getpid() }

  /// Begins to count; once is enough, and more does nothing.
  static func watch() { _ = isWatching }

  private static let isWatching: Bool = {
    // The registry is locked over the fork: or else the child might inherit it locked by a
    // thread that the child does not have.
    let status = pthread_atfork(
      {
        Registry.shared.entries.lock()
        OpenMark.beforeFork()
      },
      {
        OpenMark.afterForkInParent()
        Registry.shared.entries.unlock()
      },
      {
        Forks.count.add(1, ordering: .relaxed)
        OpenMark.afterForkInChild()
        Registry.shared.entries.unlock()
      })
    precondition(status == 0, "pthread_atfork failed with \(status)")
    return true
  }()
}
