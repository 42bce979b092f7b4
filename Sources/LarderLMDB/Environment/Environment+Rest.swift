internal import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Many programs never close a store: they end, or are ended. So the data file is also noted as it is
// while nobody writes to it, for whoever opens it behind such an end: where it is another one by then,
// somebody else has written to it.
//
// Not in each commit: to ask for a file's times makes the flush behind its next write half as long
// again on Linux. A process that is killed within half a second after a commit costs the next opening a
// look at all pages.

extension Environment {
  /// How long after a commit the file is noted as it is then.
  static var restSeconds: Double { 0.5 }

  /// Called behind each commit.
  func noteRestLater() {
    guard !willNoteRest.load(ordering: .relaxed),
      !willNoteRest.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    guard SystemCall.mayUseTimers else {
      return willNoteRest.store(false, ordering: .relaxed)
    }
    WorkQueue.later(Self.restSeconds) { [weak self] in self?.noteRest() }
  }

  /// Notes the file as it is, where a commit is not noted yet.
  func noteRest() {
    // In a forked child the file is the parent's.
    guard forkCount == Forks.current else { return }
    guard gate.enter() else {
      switch gate.closure {
      // Noted by whoever has closed or suspended it.
      case .ended: return
      case .resting where isSuspended: return
      // They may give up.
      case .resting, .closing, nil:
        return WorkQueue.later(Self.restSeconds) { [weak self] in self?.noteRest() }
      }
    }
    defer { gate.leave() }
    noteRestInside()
  }

  /// The same for one who is inside, or alone.
  func noteRestInside() {
    // Before the look: a commit behind it has another one follow.
    guard willNoteRest.exchange(false, ordering: .sequentiallyConsistent) else { return }
    guard let stamp = try? SafeFiles.stamp(files.data) else { return }
    _ = bell?.withDescriptor { OpeningLock.noteRest(stamp, in: $0) }
  }
}

extension Registry {
  /// Has stores that are open when the process ends in good order, and were not closed, noted as they
  /// are then.
  static func watchForExit() { _ = isWatchingForExit }

  private static let isWatchingForExit: Bool =
    atexit {
      let environments = Registry.shared.entries.withLock { $0.values.compactMap(\.environment) }
      for environment in environments { environment.noteRest() }
    } == 0
}
