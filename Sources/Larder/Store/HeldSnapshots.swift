internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// While a snapshot lives, nothing that was deleted since can be used again, and the file grows with
// each commit and never shrinks. So after a commit the writer looks at who reads: at snapshots that
// this process has held for long, which are told to the log, and every ten minutes at the reader
// slots of processes that died, which are given back. Where nobody writes nothing grows.

/// The snapshots of this process, where anybody wants to hear of them.
final class HeldSnapshots: Sendable {
  /// A snapshot that is held longer is told of.
  static let longSeconds = 30.0
  /// How often dead processes are looked for.
  static let checkSeconds = 600.0

  private struct State {
    var held: [ObjectIdentifier: HeldSnapshot.Place] = [:]
    var told: Set<ObjectIdentifier> = []
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
    guard let freed = try? engine.environment.checkReaders(), freed > 0 else { return }
    engine.log.tell(
      .warning, "reader slots of processes that died were given back", ["count": "\(freed)"])
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
}
