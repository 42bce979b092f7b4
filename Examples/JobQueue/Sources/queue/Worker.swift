import Foundation
import Larder

/// Does the jobs of one queue, one after the other.
///
/// The queue's consumer has a name, and the store keeps its position. Only one process consumes under a
/// name at a time; others wait, and take over when it ends, however it ends.
///
/// What a job does outside of the store happens at least once: if the process is killed between doing it
/// and saving that it is done, the next worker does it again. Give the receiver the job's id, so that it can
/// tell. What a job does in the store can be done in ``finish(_:_:of:readAt:)``, and then happens exactly once.
///
/// A job has to end within 20 seconds. The consumer holds its name for 30 seconds, and renews that only
/// when it is asked for the next batch, from the tenth second on. If a job takes longer, another worker may
/// take over and do it at the same time. Then this one saves nothing of it, and ends with
/// `StoreError.consumerLost`.
struct Worker {
  typealias Handler = @Sendable (String) async throws -> String

  let store: Store
  let queue: String
  let handlers: [String: Handler]
  var maximumAttempts = 3

  /// Works until nothing is left, or until the task is cancelled.
  func run(untilEmpty: Bool) async throws {
    let jobs = store.repository(of: Job.self)
    // Without a change there would be no batch, and nothing would end the wait for it.
    if untilEmpty, try jobs.count(Job.waiting(in: queue)) == 0 { return }
    let changes = store.changes(
      for: "jobs/\(queue)", in: ["Job"], busyTimeout: untilEmpty ? .seconds(5) : nil)
    for try await batch in changes {
      // The batch says that something has happened; the store says what is left to do. A job that was
      // added after this moment comes with the next batch.
      let (job, sequence) = try store.read { snapshot in
        (try snapshot.fetch(Job.waiting(in: queue).limit(1)).first, snapshot.sequence)
      }
      // One for each batch, so that the time of several does not add up. Beginning it is a change, which
      // brings the next batch.
      if let job, let begun = try await begin(job) {
        try await finish(begun, try await result(of: begun), of: batch, readAt: sequence)
      } else {
        try await store.write { try $0.acknowledge(batch, readAt: sequence) }
      }
      if untilEmpty, try jobs.count(Job.waiting(in: queue)) == 0 { return }
    }
  }

  /// Counts an attempt before it is made: a job that ends its worker each time is given up, too, and does not
  /// block those behind it. Returns nil if there is nothing to do.
  private func begin(_ job: Job) async throws -> Job? {
    let maximumAttempts = maximumAttempts
    let begun = try await store.write { tx in
      // Another worker may have been faster.
      guard try tx.get(Job.self, job.id)?.state == .waiting else { return Job?.none }
      return try tx.update(Job.self, job.id) { job in
        if job.attempts < maximumAttempts {
          job.attempts += 1
        } else {
          (job.state, job.result) = (.failed, "its worker ended each time")
        }
      }
    }
    guard let begun, begun.state == .failed else { return begun }
    report(begun)
    return nil
  }

  /// Any error of the handler is the job's, also a `CancellationError`, unless this worker is to end.
  private func result(of job: Job) async throws -> Result<String, any Error> {
    do {
      guard let handler = handlers[job.command] else { throw UnknownCommand(name: job.command) }
      return .success(try await handler(job.text))
    } catch {
      guard Task.isCancelled else { return .failure(error) }
      await giveBack(job)
      throw CancellationError()
    }
  }

  /// An attempt that was broken off does not count.
  private func giveBack(_ job: Job) async {
    // In a task of its own: in a cancelled one nothing is saved.
    await Task { [store] in
      _ = try? await store.write { tx in try tx.update(Job.self, job.id) { $0.attempts -= 1 } }
    }.value
  }

  /// Saves the result and acknowledges the batch in one transaction: nothing is saved by a worker that another one
  /// has replaced.
  private func finish(
    _ job: Job, _ result: Result<String, any Error>, of batch: ChangeBatch, readAt sequence: UInt64
  ) async throws {
    let maximumAttempts = maximumAttempts
    let finished = try await store.write { tx in
      try tx.acknowledge(batch, readAt: sequence)
      guard try tx.get(Job.self, job.id)?.state == .waiting else { return Job?.none }
      return try tx.update(Job.self, job.id) { job in
        switch result {
        case .success(let text): (job.state, job.result) = (.done, text)
        case .failure(let error):
          // Left waiting, it is a change, and so comes again.
          job.result = "\(error)"
          if job.attempts >= maximumAttempts { job.state = .failed }
        }
      }
    }
    if let finished { report(finished) }
  }

  private func report(_ job: Job) {
    print(job.line)
    fflush(nil)  // Into a pipe, print would wait until there is more.
  }
}

struct UnknownCommand: Error, CustomStringConvertible {
  let name: String
  var description: String { "nobody knows how to \(name)" }
}

extension Job {
  var line: String {
    "\(queue) \(command) \(text): \(state) \(result)".trimmingCharacters(in: .whitespaces)
  }
}
