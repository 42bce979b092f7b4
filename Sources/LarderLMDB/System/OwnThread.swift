internal import Dispatch

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Threads that do one thing and end.
///
/// A child of `fork` has none of its parent's threads, and Dispatch does not know: where the parent had
/// used it, what is given to it in the child is never run. These are made when they are needed.
enum OwnThread {
  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread; false, without running it, where the system has none to give.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    #if canImport(Darwin) || canImport(Musl)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // Signals are for the threads of the program.
    var (all, usual) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &usual)
    let status = pthread_create(&thread, nil, { OwnThread.run($0) }, work)
    pthread_sigmask(SIG_SETMASK, &usual, nil)
    guard status == 0 else {
      Unmanaged<Work>.fromOpaque(work).release()
      return false
    }
    #if canImport(Darwin) || canImport(Musl)
      if let thread { pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
    return true
  }

  private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
    return nil
  }
}

/// A queue of Dispatch, and in a forked child threads of its own, in no order: for work of which there
/// is only one piece at a time.
package struct WorkQueue: Sendable {
  private let queue: DispatchQueue

  package init(_ label: String) {
    Forks.watch()
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  package func async(_ body: @escaping @Sendable () -> Void) {
    if Forks.isChild, OwnThread.start(body) { return }
    queue.async(execute: body)
  }

  /// Runs `body` some seconds later, on no thread in particular.
  static func later(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    if Forks.isChild {
      let isStarted = OwnThread.start {
        SystemCall.sleep(microseconds: UInt32(seconds * 1e6))
        body()
      }
      if isStarted { return }
    }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds, execute: body)
  }
}
