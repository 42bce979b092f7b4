internal import Synchronization

// A reader at rest keeps its slot, of which all processes together have a few hundred. Processes that
// once read on many threads and do nothing since would take them from those that read. So readers
// that have rested for a while end, and the first reads behind that begin anew, which costs a
// microsecond.

extension Environment {
  /// A reader that has rested for so long, and at most twice as long, gives its slot back.
  static var idleSeconds: Double { 30 }

  /// Looks for idle readers from now on, until there is none at rest. Called behind whatever makes a
  /// new one.
  func watchForIdleReaders() {
    guard !looksForIdleReaders.load(ordering: .relaxed),
      !looksForIdleReaders.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    guard SystemCall.mayUseTimers else {
      return looksForIdleReaders.store(false, ordering: .relaxed)
    }
    lookLater()
  }

  private func lookLater() {
    WorkQueue.later(Self.idleSeconds) { [weak self] in
      guard let self else { return }
      // Before it looks: a reader that comes after it has looked begins to watch again.
      looksForIdleReaders.store(false, ordering: .sequentiallyConsistent)
      if endIdleReaders() { watchForIdleReaders() }
    }
  }

  /// Ends the readers at rest that nobody has used since the last time; returns whether others are
  /// left.
  func endIdleReaders() -> Bool {
    guard forkCount == Forks.current, gate.enter() else { return false }
    defer { gate.leave() }
    if lockPages?.makeReady() == false { return true }
    endUnendedReads()
    var used: [TransactionHandle] = []
    while let handle = pool.take() {
      // Taking it here counts as well.
      if handle.state.pointee.useCount == handle.state.pointee.seenUseCount &+ 1 {
        discard(handle)
      } else {
        handle.state.pointee.seenUseCount = handle.state.pointee.useCount
        used.append(handle)
      }
    }
    for handle in used where !pool.put(handle) { discard(handle) }
    return !used.isEmpty
  }
}
