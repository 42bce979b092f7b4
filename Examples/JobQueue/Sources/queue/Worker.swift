import Foundation
import Larder

/// Does the jobs of one queue, one after the other.
///
/// The queue's consumer has a name, and the store keeps its position. Only one process consumes under a
/// name at a time; others wait, and take over when it ends, however it ends.
///
/// What a job does outside of the store happens at least once: if the process is killed between doing it
/// and saving that it is done, the next worker does it again. Give the receiver the job's id, so that it can
/// tell. What a job does in the store can be done in ``finish(_:_:)``, and then happens exactly once.
///
/// A job has to end within 20 seconds. The consumer holds its name for 30 seconds, and renews that only
/// when it is asked for the next batch, from the tenth second on. If a job takes longer, another worker may
/// take over and do it at the same time, and this one ends with `StoreError.consumerLost`.
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
      // One for each batch, so that the time of several does not add up. Finishing it is a change, which
      // brings the next batch.
      if let job { try await perform(job) }
      try await store.write { try $0.acknowledge(batch, readAt: sequence) }
      if untilEmpty, try jobs.count(Job.waiting(in: queue)) == 0 { return }
    }
  }

  private func perform(_ job: Job) async throws {
    do {
      guard let handler = handlers[job.command] else { throw UnknownCommand(name: job.command) }
      try await finish(job, .success(handler(job.text)))
    } catch let error as StoreError {
      throw error
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      try await finish(job, .failure(error))
    }
  }

  private func finish(_ job: Job, _ result: Result<String, any Error>) async throws {
    let maximumAttempts = maximumAttempts
    let finished = try await store.write { tx in
      try tx.update(Job.self, job.id) { job in
        job.attempts += 1
        switch result {
        case .success(let text): (job.state, job.result) = (.done, text)
        case .failure(let error):
          // Left waiting, it is a change, and so comes again.
          job.result = "\(error)"
          if job.attempts >= maximumAttempts { job.state = .failed }
        }
      }
    }
    if let finished { print(finished.line) }
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
