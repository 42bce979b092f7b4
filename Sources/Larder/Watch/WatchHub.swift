internal import Dispatch
internal import LarderLMDB
internal import Synchronization

/// Tells the watchers of a store about commits, in their order: a small one on its own thread, where
/// few watchers are to be asked, and all others on a line of the hub's. Where nobody watches a commit
/// costs nothing.
final class WatchHub: Sendable {
  struct State {
    /// Where watchers are asked about changes: by a round without the lock, so they stay as they are until
    /// it has ended.
    var groups: [String: WatchGroup] = [:]
    var isAsking = false
    var seats: [ObjectIdentifier: Member] = [:]
    /// The seats that have no place in the groups yet, and the places that were given up meanwhile.
    var unsettled: Set<ObjectIdentifier> = []
    var left: [WatchGroup.Member] = []
    /// Those who are told of every commit.
    var listeners: [ObjectIdentifier: WatchSeat] = [:]
    /// The last change that all were told of, or had before they sat down; nil where it is unknown.
    var position: UInt64?
    /// How often the log was read for watchers.
    var round: UInt64 = 0
    var timer: (any DispatchSourceTimer)?
    var writes: FileWrites?
    /// Whether the notifier will be released soon, unless a watcher joins before that.
    var isLingering = false
    var stopListening: (@Sendable () -> Void)?
  }

  struct Member {
    let seat: WatchSeat
    let store: ObjectIdentifier
    /// The changes that the watcher wants to hear of; empty where it listens to every commit.
    var interests: [WatchInterest]
    /// Where it is asked.
    var places: [WatchGroup.Member] = []
  }

  let state = Locked(State())
  /// Read without the lock by every commit. In one order with the snapshots that watchers take
  /// after they have sat down: either the commit sees the seat, or the watcher the commit.
  private let seatCount = Atomic<Int>(0)
  private let isScheduled = Atomic<Bool>(false)
  /// Whether a commit may tell by itself: few watchers are asked about each change, for want of one
  /// value that they ask for, none of them by code of the app, and there are not very many in all.
  private let mayTellAtOnce = Atomic<Bool>(false)
  /// Held while watchers are told, so that nobody tells of an earlier snapshot after a later one.
  private let telling = Locked(false)
  private let queue = DispatchQueue(label: "larder.watch")

  /// Changes behind which the hub itself does not look at each any more.
  static let patience: UInt64 = 4096
  /// Changes, watchers that are asked about each of them, and watchers that may have to be woken, up
  /// to which a commit tells by itself: some microseconds. It would take the hub's line longer to wake.
  private static let (handful, audience, crowd): (UInt64, Int, Int) = (4, 64, 2048)
  /// Bytes of texts that a commit itself may read for them: 4 to 6 ns for each.
  private static let searchedByteCount = 8192
  /// How long another process's commit may go unnoticed where nothing tells of it.
  private static let pollMilliseconds = 250
  /// How long the notifier is kept after the last watcher has left.
  private static let lingerSeconds = 2

  var isEmpty: Bool { seatCount.load(ordering: .sequentiallyConsistent) == 0 }

  /// So many changes were committed.
  func wake(_ engine: Engine, changeCount: UInt64) {
    if isEmpty { return }
    // Code of the app is never run in the writer's line: it may wait for whoever writes.
    if changeCount <= Self.handful, mayTellAtOnce.load(ordering: .relaxed),
      telling.withLockIfFree({ _ in tellNow(engine, atMost: Self.handful) }) == true
    {
      return
    }
    guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { self.tell(engine) }
  }
}

// MARK: Seats

extension WatchHub {
  /// A seat for a watcher that is told of every commit.
  func listen(in store: Store) -> WatchSeat { sit(in: store, nil) }

  /// A seat for a watcher.
  func sit(in store: Store, _ interest: WatchInterest) -> WatchSeat { sit(in: store, [interest]) }

  /// A seat for a watcher that is told of changes that any of these is about, if there are any;
  /// of every commit where nil is given.
  func sit(in store: Store, _ interests: [WatchInterest]?) -> WatchSeat {
    let seat = WatchSeat()
    // Who looks first looks behind this, so that the first commit need not wake everybody.
    let start = isEmpty ? try? store.engine.withChangeLog { snapshot, _ in snapshot.sequence } : nil
    state.withLock { state in
      if state.seats.isEmpty {
        state.position = start
        startPolling(&state, store.engine)
      }
      let id = ObjectIdentifier(seat)
      state.seats[id] = Member(
        seat: seat, store: ObjectIdentifier(store), interests: interests ?? [])
      state.unsettled.insert(id)
      if interests == nil { state.listeners[id] = seat }
      settle(&state)
    }
    return seat
  }

  /// From now on the watcher is told of changes that any of these is about. It has to look at the store
  /// once more itself: nobody has told it of what they are about and has happened before.
  func change(_ seat: WatchSeat, to interests: [WatchInterest]) {
    state.withLock { state in
      let id = ObjectIdentifier(seat)
      guard let member = state.seats[id] else { return }
      state.left += member.places
      state.seats[id] = Member(seat: seat, store: member.store, interests: interests)
      state.unsettled.insert(id)
      settle(&state)
    }
  }

  func leave(_ seat: WatchSeat) {
    state.withLock { state in
      let id = ObjectIdentifier(seat)
      guard let member = state.seats.removeValue(forKey: id) else { return }
      state.listeners[id] = nil
      state.left += member.places
      settle(&state)
      if state.seats.isEmpty { stopPolling(&state) }
    }
  }

  /// Brings the groups in step with the seats: at once, or at the end of a round that is reading them. So whoever
  /// begins or ends a watch, perhaps on the main actor, never waits for a round. A watcher that begins during one misses
  /// nothing: the round tells of earlier commits, which the watcher's first look finds.
  private func settle(_ state: inout State) {
    seatCount.store(state.seats.count, ordering: .sequentiallyConsistent)
    if state.isAsking { return }
    for place in state.left { state.remove(place) }
    state.left = []
    for id in state.unsettled {
      guard let member = state.seats[id] else { continue }
      let places = member.interests.map { state.add(member.seat, $0) }
      state.seats[id]?.places = places
    }
    state.unsettled = []
    let asked = state.groups.values.reduce(state.listeners.count) { $0 + $1.askedCount }
    mayTellAtOnce.store(
      asked <= Self.audience && state.seats.count <= Self.crowd
        && !state.groups.values.contains { $0.runsCode }, ordering: .relaxed)
  }

  /// Has all watchers of a collection look, whatever the log says.
  func wakeAll(of collection: String) {
    state.withLock { state in
      for member in state.seats.values
      where member.interests.contains(where: { $0.collection == collection }) {
        member.seat.signal(after: 0)
      }
    }
  }

  /// Ends the watchers of a store that was closed.
  func close(_ store: Store) {
    let id = ObjectIdentifier(store)
    let seats = state.withLock { $0.seats.values.filter { $0.store == id }.map(\.seat) }
    for seat in seats { seat.close() }
  }

  /// Begins to look out for commits of other processes, each of which rings; where nothing is heard,
  /// the store is looked at now and then.
  private func startPolling(_ state: inout State, _ engine: Engine) {
    let environment = engine.environment
    environment.listen(true)
    state.stopListening = { [weak environment] in environment?.listen(false) }
    lookOut(&state, engine)
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now() + .milliseconds(Self.pollMilliseconds),
      repeating: .milliseconds(Self.pollMilliseconds), leeway: .milliseconds(50))
    timer.setEventHandler { [weak engine, weak self] in
      guard let engine, let self else { return }
      self.state.withLock { if !$0.seats.isEmpty { self.lookOut(&$0, engine) } }
      self.tell(engine)
    }
    timer.activate()
    state.timer = timer
  }

  /// Asks the system to report writes, unless it does so already. It may refuse now and agree later.
  private func lookOut(_ state: inout State, _ engine: Engine) {
    if state.writes != nil { return }
    state.writes = FileWrites(engine.environment.bellPath, on: queue) { [weak engine, weak self] in
      if let engine { self?.tell(engine) }
    }
  }

  /// Goes on behind a suspension, or behind one that did not come about: everybody has to look, as others
  /// may have written, and as whoever looked meanwhile was refused.
  func resume(_ engine: Engine) {
    state.withLock { state in
      guard !state.seats.isEmpty else { return }
      engine.environment.listen(true)
      state.position = nil
      state.signalAll()
    }
  }

  private func stopPolling(_ state: inout State) {
    state.timer?.cancel()
    state.timer = nil
    state.stopListening?()
    state.stopListening = nil
    linger(&state)
  }

  /// Keeps the notifier for a moment. Otherwise many short watches in a row would use up the notifiers that the system
  /// has for all programs of a user.
  private func linger(_ state: inout State) {
    if state.writes == nil || state.isLingering { return }
    state.isLingering = true
    queue.asyncAfter(deadline: .now() + .seconds(Self.lingerSeconds)) { [weak self] in
      self?.state.withLock { state in
        state.isLingering = false
        if state.seats.isEmpty { state.writes = nil }
      }
    }
  }
}

// MARK: A round

extension WatchHub {
  private func tell(_ engine: Engine) {
    isScheduled.store(false, ordering: .sequentiallyConsistent)
    if isEmpty { return }
    telling.withLock { _ in _ = tellNow(engine, atMost: nil) }
  }

  /// - Parameter limit: Changes that may be told of.
  /// - Returns: False where there are more, or others have to tell; nobody was told then.
  private func tellNow(_ engine: Engine, atMost limit: UInt64?) -> Bool {
    do {
      return try engine.storing { try engine.withChangeLog { try tell($0, $1, atMost: limit) } }
    } catch let error as StoreError where error.isSuspended {
      // They are told behind its end.
      return true
    } catch {
      // The watchers find the same error when they look, and can throw it.
      state.withLock { $0.signalAll() }
      return true
    }
  }

  private func tell(
    _ snapshot: borrowing Snapshot, _ log: Database?, atMost limit: UInt64?
  ) throws -> Bool {
    // Locked behind the snapshot: whoever sits down later has a later one.
    let round: Round
    switch try state.withLock({ try begin(&$0, snapshot, log, atMost: limit) }) {
    case .over(let isTold): return isTold
    case .asking(let begun): round = begun
    }
    defer {
      state.withLock { state in
        state.isAsking = false
        settle(&state)
      }
    }
    let isWhole = try snapshot.transaction.forEachChange(
      after: round.position, head: snapshot.sequence, in: round.log
    ) { header, change in
      round.groups[header.collection]?.tell(
        header, change, snapshot, after: round.position, round: round.number)
      return true
    }
    if !isWhole { state.withLock { $0.signalAll() } }
    return true
  }

  /// One reading of the log: the groups that are told, and the changes that they are told of.
  private struct Round {
    let groups: [String: WatchGroup]
    let number: UInt64
    /// The change that it begins behind.
    let position: UInt64
    let log: Database
  }

  private enum Beginning {
    case asking(Round)
    /// All were told; or nobody, where false.
    case over(isTold: Bool)
  }

  private func begin(
    _ state: inout State, _ snapshot: borrowing Snapshot, _ log: Database?, atMost limit: UInt64?
  ) throws -> Beginning {
    let (head, known) = (snapshot.sequence, state.position)
    // Asked again, now that nobody sits down meanwhile.
    if let limit, head &- (known ?? 0) > limit || !mayTellAtOnce.load(ordering: .relaxed) {
      return .over(isTold: false)
    }
    if known == head { return .over(isTold: true) }
    guard let log, let position = known, head > position, head - position <= Self.patience
    else {
      state.position = head
      state.signalAll()
      return .over(isTold: true)
    }
    if limit != nil, try searchesLong(state, snapshot, log, after: position) {
      return .over(isTold: false)
    }
    state.position = head
    state.round += 1
    for seat in state.listeners.values { seat.signal(after: 0) }
    state.isAsking = true
    return .asking(
      Round(groups: state.groups, number: state.round, position: position, log: log))
  }
}

extension WatchHub {
  /// Whether too many bytes have to be searched to find out whom some changes concern.
  private func searchesLong(
    _ state: State, _ snapshot: borrowing Snapshot, _ log: Database, after position: UInt64
  ) throws -> Bool {
    guard state.groups.values.contains(where: { $0.searchWeight > 0 }) else { return false }
    let isLong = try snapshot.transaction.changesTake(
      moreThan: Self.searchedByteCount, after: position, in: log)
    if isLong { return true }
    var byteCount = 0
    _ = try snapshot.transaction.forEachChange(
      after: position, head: snapshot.sequence, in: log
    ) { header, change in
      byteCount += try state.groups[header.collection]?.searchedByteCount(change, snapshot) ?? 0
      return byteCount <= Self.searchedByteCount
    }
    return byteCount > Self.searchedByteCount
  }
}

extension WatchHub.State {
  fileprivate mutating func add(_ seat: WatchSeat, _ interest: WatchInterest) -> WatchGroup.Member {
    let group = groups[interest.collection] ?? WatchGroup(interest.collection)
    groups[interest.collection] = group
    return group.add(seat, interest)
  }

  fileprivate mutating func remove(_ place: WatchGroup.Member) {
    guard let group = groups[place.interest.collection] else { return }
    group.remove(place)
    if group.count == 0 { groups[place.interest.collection] = nil }
  }

  fileprivate func signalAll() {
    for member in seats.values { member.seat.signal(after: 0) }
  }
}
