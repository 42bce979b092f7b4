/// The environments of this process: LMDB must not open one file twice, because the second
/// opening resets the table of readers under the first.
final class Registry: Sendable {
  static let shared = Registry()

  private init() { Forks.hold(entries) }

  enum Phase: Equatable { case opening, open, closing }

  struct Entry {
    var phase = Phase.opening
    weak var environment: Environment?
    var openCount = 1
    let forks: Int
  }

  enum Claim {
    /// The caller must open the file, and then call `didOpen` or `remove`.
    case ours
    case alreadyOpen(Environment)
  }

  enum Closing { case shared, last, elsewhere }

  let entries = Locked<[FileIdentity: Entry]>([:])

  /// Waits while another thread opens or closes the file.
  func claim(_ identity: FileIdentity, _ options: Environment.Options) -> Claim {
    while true {
      followSuspended()
      // The environment leaves the lock before it is let go of: its end takes the lock again.
      let claim = entries.withLock { entries -> Claim? in
        guard let entry = entries[identity], entry.forks == Forks.current else {
          entries[identity] = Entry(forks: Forks.current)
          return .ours
        }
        guard entry.phase == .open, let environment = entry.environment else { return nil }
        if environment.options.differences(from: options).isEmpty {
          entries[identity]?.openCount += 1
        }
        return .alreadyOpen(environment)
      }
      if let claim { return claim }
      SystemCall.sleep(microseconds: 1000)
    }
  }

  /// Keeps everybody in this process from opening the file, until `remove`; false when somebody has
  /// it open, or is about to.
  func claimAlone(_ identity: FileIdentity) -> Bool {
    followSuspended()
    return entries.withLock { entries in
      if let entry = entries[identity], entry.forks == Forks.current { return false }
      entries[identity] = Entry(forks: Forks.current)
      return true
    }
  }

  /// Has suspended environments go by the files that are at their paths now.
  func followSuspended() {
    // The environments leave the lock before they are let go of.
    let environments = entries.withLock { entries in
      entries.values.compactMap { $0.forks == Forks.current ? $0.environment : nil }
    }
    for environment in environments where environment.isSuspended { environment.followFile() }
  }

  func didOpen(_ environment: Environment, _ identity: FileIdentity) {
    entries.withLock { entries in
      entries[identity]?.environment = environment
      entries[identity]?.phase = .open
    }
  }

  /// Whether an environment of this process uses the lock file, other than that of `data`.
  func hasLockFile(_ identity: FileIdentity, except data: FileIdentity?) -> Bool {
    // The environments leave the lock before they are let go of.
    let environments = entries.withLock { entries in
      entries.compactMap { $0.key == data ? nil : $0.value.environment }
    }
    // Those of a parent are another process's by now.
    return environments.contains {
      $0.lockIdentity == identity && $0.forkCount == Forks.current
    }
  }

  /// Another data file has taken the place of one that is open; false, and nothing changes, where somebody has
  /// that one open.
  func move(_ identity: FileIdentity, to other: FileIdentity) -> Bool {
    entries.withLock { entries in
      if let entry = entries[other], entry.forks == Forks.current { return false }
      entries[other] = entries.removeValue(forKey: identity)
      return true
    }
  }

  func remove(_ identity: FileIdentity) {
    entries.withLock { entries in _ = entries.removeValue(forKey: identity) }
  }

  /// One opener less; the last one must then close, and call `remove` or `didNotClose`.
  func beginClosing(_ identity: FileIdentity) -> Closing {
    entries.withLock { entries in
      guard let entry = entries[identity], entry.phase == .open else { return .elsewhere }
      if entry.openCount > 1 {
        entries[identity]?.openCount -= 1
        return .shared
      }
      entries[identity]?.phase = .closing
      return .last
    }
  }

  /// Keeps others in this process from opening and closing the file, until `didNotClose`; false while
  /// somebody else does, or where it is not open.
  func beginChanging(_ identity: FileIdentity) -> Bool {
    entries.withLock { entries in
      guard entries[identity]?.phase == .open else { return false }
      entries[identity]?.phase = .closing
      return true
    }
  }

  func didNotClose(_ identity: FileIdentity) {
    entries.withLock { entries in entries[identity]?.phase = .open }
  }
}
