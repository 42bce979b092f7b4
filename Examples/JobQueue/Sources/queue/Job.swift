import Foundation
import Larder

@Document
struct Job: Identifiable, Equatable {
  /// Grows with time, so that jobs lie in the order in which they were added.
  var id: UUID = .timeOrdered()
  var queue: String
  var command: String
  var text: String
  var state = JobState.waiting
  var attempts = 0
  var result = ""

  static let indexes: [Index<Job>] = [Index(\.queue, where: { $0.state == .waiting })]

  /// What is left to do in a queue, the oldest first.
  static func waiting(in queue: String) -> Query<Job> {
    Job.where { $0.state == .waiting && $0.queue == queue }
  }
}

enum JobState: String, Storable {
  case waiting, done, failed
}
