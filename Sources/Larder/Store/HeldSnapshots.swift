internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// While a snapshot lives, nothing that was deleted since can be used again, and the file grows with
// each commit and never shrinks. So after a commit the writer looks at who reads: at snapshots that
// this process has held for long, which are told to the log, and every ten minutes at those of other
// processes: slots of processes that died are given back, and snapshots that were there ten minutes
// ago are told. Where nobody writes nothing grows. A write that finds no room, and a file that has
// doubled, have those slots given back at once.

/// The snapshots of this process, where anybody wants to hear of them, and those of others.
final class HeldSnapshots: Sendable {
  /// A snapshot that is held longer is told of.
  static let longSeconds = 30.0
  /// How often other processes are looked at: a snapshot of theirs that is seen twice is told of.
  static let checkSeconds = 600.0

  private struct State {
    var held: [ObjectIdentifier: HeldSnapshot.Place] = [:]
    var told: Set<ObjectIdentifier> = []
    /// Those of other processes, and whether they were told of, since they were first seen.
    var others: [EnvironmentReader: (since: ContinuousClock.Instant, isTold: Bool)] = [:]
    var lastCheck: ContinuousClock.Instant
    var clock: @Sendable () -> ContinuousClock.Instant = { .now }
  }
  private let state = Locked(State(lastCheck: .now))

  /// Has time told by another clock, for tests.
  func use(_ clock: @escaping @Sendable () -> ContinuousClock.Instant) {
    state.withLock { state in
      state.clock = clock
      state.lastCheck = clock()
    }
  }

  /// To be kept as long as the snapshot that was opened there.
  func open(_ file: StaticString, _ line: UInt) -> HeldSnapshot {
    let snapshot = HeldSnapshot(self)
    state.withLock { state in
      state.held[ObjectIdentifier(snapshot)] = HeldSnapshot.Place(
        file: file, line: line, start: state.clock())
    }
    return snapshot
  }

  fileprivate func close(_ id: ObjectIdentifier) {
    state.withLock { state in
      state.held[id] = nil
      state.told.remove(id)
    }
  }

  /// Looks at who reads. Called behind a commit.
  func look(_ engine: Engine) {
    let isActive = engine.log.isActive
    let (isDue, long) = state.withLock { state in
      let now = state.clock()
      let isDue = now - state.lastCheck >= .seconds(Self.checkSeconds)
      if isDue { state.lastCheck = now }
      var long: [(HeldSnapshot.Place, Duration)] = []
      for (id, place) in state.held where isActive && !state.told.contains(id) {
        guard now - place.start >= .seconds(Self.longSeconds) else { continue }
        state.told.insert(id)
        long.append((place, now - place.start))
      }
      return (isDue, long)
    }
    for (place, duration) in long { engine.log.tellOfSnapshot(place, duration) }
    guard isDue else { return }
    // Where it fails the store is closing, or whoever uses it next hears of the failure.
    guard engine.freeDeadReaders() != nil else { return }
    if isActive, let readers = try? engine.environment.readers() { look(at: readers, engine.log) }
  }

  /// Tells of snapshots of other living processes that were there the last time too. A slot that has
  /// changed its snapshot in between is another one.
  private func look(at readers: [EnvironmentReader], _ log: StoreLog) {
    let own = ProcessInfo.processInfo.processIdentifier
    let long = state.withLock { state in
      let now = state.clock()
      let earlier = state.others
      state.others = [:]
      var long: [(EnvironmentReader, Duration)] = []
      for reader in readers where reader.processID != own && reader.transactionID != nil {
        let seen = earlier[reader]
        let since = seen?.since ?? now
        let isLong = now - since >= .seconds(Self.checkSeconds)
        if isLong, seen?.isTold == false { long.append((reader, now - since)) }
        state.others[reader] = (since, isLong)
      }
      return long
    }
    for (reader, duration) in long { log.tellOfSnapshot(reader, duration) }
  }
}

extension Engine {
  /// Gives back the slots of readers whose processes died, which keep what was deleted since from being used again.
  ///
  /// - Returns: Whether there were any; nil where they cannot be asked for.
  func freeDeadReaders() -> Bool? {
    guard let count = try? environment.checkReaders() else { return nil }
    if count > 0 {
      log.tell(
        .warning, "reader slots of processes that died were given back", ["count": "\(count)"])
    }
    return count > 0
  }
}

/// A snapshot's entry among those that are held.
final class HeldSnapshot: Sendable {
  /// Where and when one was opened.
  struct Place {
    let file: StaticString
    let line: UInt
    let start: ContinuousClock.Instant
  }

  private let all: HeldSnapshots

  fileprivate init(_ all: HeldSnapshots) { self.all = all }

  deinit { all.close(ObjectIdentifier(self)) }
}

extension StoreLog {
  fileprivate func tellOfSnapshot(_ place: HeldSnapshot.Place, _ duration: Duration) {
    tell(
      .warning, "a snapshot is held long",
      [
        "at": "\(place.file):\(place.line)", "seconds": duration.secondsText,
        "since": Date(timeIntervalSinceNow: -duration.seconds).formatted(.iso8601),
      ])
  }

  /// - Parameter duration: How long it has been there at least.
  fileprivate func tellOfSnapshot(_ reader: EnvironmentReader, _ duration: Duration) {
    tell(
      .warning, "a snapshot of another process is held long",
      ["process": "\(reader.processID)", "seconds": duration.secondsText])
  }
}
