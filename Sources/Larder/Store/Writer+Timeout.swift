internal import Dispatch
internal import LarderLMDB

// Time counts only while something is before those who wait. What is just being handed from one to the
// next holds up nobody: however short the time is, a write that has nothing before it is written.

extension Writer {
  /// Ends what has waited for too long, now and again, as long as some wait.
  func lookForLate() {
    guard let timeoutSeconds else { return }
    let isFirst = state.withLock { state in
      defer { state.looksForLate = true }
      return !state.looksForLate
    }
    if isFirst { lookForLate(in: timeoutSeconds) }
  }

  private func lookForLate(in seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
      guard let self, let timeoutSeconds else { return }
      let isElsewhere = waitsElsewhere()
      let now = WriteWait.now
      let late = state.withLock { state in
        let late = state.late(after: timeoutSeconds, isElsewhere: isElsewhere, at: now)
        state.looksForLate = late.next != nil
        return late
      }
      for job in late.jobs where job.endsEarly() { leave(job, timedOut()) }
      for number in late.blocks { endBlock(at: number, timedOut()) }
      if let next = late.next { lookForLate(in: max(next - now, 0.001)) }
    }
  }
}

extension Writer.State {
  /// Whether those in the line wait for something that runs.
  private var holdsUp: Bool {
    switch running {
    case .nothing: false
    // Those who wait for them hear of their end, and may come again, before they give the line back.
    case .jobs: isLenderEnded?() == false || group.contains { !$0.isEnded }
    case .other: true
    }
  }

  /// When something in the line has waited for too long, or when to look again.
  func end(of seconds: Double, since start: Double, at now: Double) -> Double {
    end(of: seconds, since: start, at: now, isHeldUp: holdsUp)
  }

  private func end(
    of seconds: Double, since start: Double, at now: Double, isHeldUp: Bool
  ) -> Double {
    isHeldUp ? max(start, takenSince ?? now) + seconds : now + max(seconds, 0.01)
  }

  /// What has waited for too long, and when to look again; nil where nothing waits.
  ///
  /// - Parameter isElsewhere: Whether what runs in the line waits for another process.
  func late(
    after seconds: Double, isElsewhere: Bool, at now: Double
  ) -> (jobs: [WriteJob], blocks: [UInt64], next: Double?) {
    var (jobs, blocks) = ([WriteJob](), [UInt64]())
    var next: Double?
    func isLate(since start: Double, _ isHeldUp: Bool) -> Bool {
      // One that has not been told yet where it stands has just come.
      let moment = end(of: seconds, since: min(start, now), at: now, isHeldUp: isHeldUp)
      if moment > now { next = min(next ?? moment, moment) }
      return moment <= now
    }
    let isHeldUp = holdsUp
    let isGroupHeldUp = isElsewhere || group.contains(where: \.isRunning)
    for job in group where job.isWaiting {
      if isLate(since: job.since, isGroupHeldUp) { jobs.append(job) }
    }
    for (number, entry) in entries.numbered {
      switch entry {
      case .job(let job):
        if job.isWaiting, isLate(since: job.since, isHeldUp) { jobs.append(job) }
      case .block(let block):
        if block.giveUp != nil, isLate(since: block.since, isHeldUp) { blocks.append(number) }
      case .turn: continue
      }
    }
    return (jobs, blocks, next)
  }
}
