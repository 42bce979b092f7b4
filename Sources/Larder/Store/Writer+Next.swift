// What the line of writes does next.

extension Writer.State {
  /// Something has got the line.
  mutating func begin(_ running: Writer.Running, at now: Double) {
    self.running = running
    takenSince = takenSince ?? now
  }

  /// It has ended.
  mutating func end() {
    group = []
    isLenderEnded = nil
    running = .nothing
  }

  /// Nothing is left to be run.
  mutating func free() {
    isTaken = false
    takenSince = nil
  }

  /// What is next, or nothing, and the line is free then.
  mutating func takeNext(at now: Double) -> Writer.Next {
    let jobs = jobsTogether()
    if let turn = takeTurn(behind: jobs, at: now) { return .turn(turn) }
    if !jobs.isEmpty {
      entries.removeFirst(jobs.count)
      group = jobs
      begin(.jobs, at: now)
      return .jobs(jobs)
    }
    if case .block(let block)? = entries.popFirst() {
      begin(.other, at: now)
      return .block(block)
    }
    free()
    return .nothing
  }

  /// The turn that is next, with the jobs before it that it runs; nil where it is not next.
  mutating func takeTurn(at now: Double) -> WriterTurn? {
    takeTurn(behind: jobsTogether(), at: now)
  }

  private mutating func takeTurn(behind jobs: [WriteJob], at now: Double) -> WriterTurn? {
    guard jobs.count < min(entries.count, Writer.largestGroupCount),
      case .turn(let turn)? = entries.elements.dropFirst(jobs.count).first(where: { _ in true }),
      jobs.isEmpty || turn.takesJobs && !jobs[0].isLarge
    else { return nil }
    entries.removeFirst(jobs.count + 1)
    group = jobs
    begin(.other, at: now)
    turn.jobs = jobs
    return turn
  }

  /// The jobs that stand first in the line, as far as they share a transaction.
  private func jobsTogether() -> [WriteJob] {
    var jobs: [WriteJob] = []
    for entry in entries.elements {
      guard case .job(let job) = entry, jobs.count < Writer.largestGroupCount else { break }
      // A large one runs alone.
      if !jobs.isEmpty, job.isLarge || jobs[0].isLarge { break }
      jobs.append(job)
    }
    return jobs
  }
}
