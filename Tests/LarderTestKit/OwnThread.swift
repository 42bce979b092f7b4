import Dispatch

/// For a task that blocks, or that must go on while tests block: the threads that all tasks share are few.
package final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "own thread")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
