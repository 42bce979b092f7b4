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
struct Worker {
  typealias Handler = @Sendable (String) async throws -> String

  let store: Store
  let queue: String
  let handlers: [String: Handler]
  var maximumAttempts = 3

  /// Works until nothing is left, or until the task is cancelled.
  func run(untilEmpty: Bool) async throws {
    let jobs = store.repository(of: Job.self)
    let changes = store.changes(
      for: "jobs/\(queue)", in: ["Job"], busyTimeout: untilEmpty ? .seconds(5) : nil)
    for try await batch in changes {
      // The batch says that something has happened; the store says what is left to do. A job that was
      // added after this moment comes with the next batch.
      let (waiting, sequence) = try store.read { snapshot in
        (try snapshot.fetch(Job.waiting(in: queue)), snapshot.sequence)
      }
      for job in waiting { try await perform(job) }
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
