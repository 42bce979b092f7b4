internal import LarderLMDB

/// One iteration of a watch of joined models.
///
/// What a side ignores is still to come with the next step that is made for anything else, of whichever side.
/// So when one has news the other is looked at as well, with all that it ignores, before the step is made.
final class JoinedWatch<
  Model: Sendable, Other: Sendable, Key: Hashable & Sendable, Related: Sendable
>: Sendable {
  typealias Change = ResultChange<Included<Model, Related>>

  private struct State {
    var rows: JoinedRows<Model, Other, Key, Related>
    /// Steps that nobody has asked for yet.
    var steps: [Change] = []
    var isOver = false
  }

  private let models: WatchedSide<ResultChange<Model>>
  private let others: WatchedSide<ResultChange<Other>>
  private let unreadable: UnreadableOthers<Key>?
  /// Says when one of them may have news.
  private let news: WatchPair<Void, Void>
  private let state: Locked<State>

  /// - Parameter unreadable: Where the others are watched without those that cannot be read.
  init(
    _ link: JoinedRows<Model, Other, Key, Related>.Link,
    _ models: WatchSequence<ResultChange<Model>>, _ others: WatchSequence<ResultChange<Other>>,
    _ unreadable: UnreadableOthers<Key>? = nil
  ) {
    self.models = WatchedSide(models)
    self.others = WatchedSide(others)
    self.unreadable = unreadable
    news = WatchPair(self.models.wait, self.others.wait)
    state = Locked(State(rows: JoinedRows(link)))
  }

  /// The next step; nil once one side has ended or the task is cancelled, or after an error.
  ///
  /// - Throws: What one of the sides throws.
  @concurrent func next() async throws -> Change? {
    do {
      while !state.withLock({ $0.isOver }), !Task.isCancelled {
        let (step, mayBeMore) = try look()
        if let step { return step }
        if mayBeMore {
          // Else whoever writes without a pause keeps a thread of the pool from all others.
          await Task.yield()
          continue
        }
        guard try await news.next() != nil else { break }
      }
    } catch {
      state.withLock { $0.isOver = true }
      throw error
    }
    state.withLock { $0.isOver = true }
    return nil
  }

  /// Looks once at both sides.
  ///
  /// - Returns: The next step, if there is one; else whether it is worth looking again at once.
  func look() throws -> (step: Change?, mayBeMore: Bool) {
    try state.withLock { state in
      let mayBeMore = try state.steps.isEmpty && makeSteps(&state)
      try checkReadable(&state.rows)
      return (state.steps.isEmpty ? nil : state.steps.removeFirst(), mayBeMore)
    }
  }

  /// - Returns: Whether there was anything new, which need not be seen.
  private func makeSteps(_ state: inout State) throws -> Bool {
    if let change = try models.look(false) {
      try follow(change, &state)
      return true
    }
    guard let change = try others.look(false) else { return false }
    state.rows.note(others: change)
    try follow(try models.look(true), &state)
    return true
  }

  /// - Throws: What fetching throws where a model asks for one of the others that cannot be read.
  private func checkReadable(_ rows: inout JoinedRows<Model, Other, Key, Related>) throws {
    guard let unreadable else { return }
    rows.note(unreadable: unreadable.takeReports())
    let keys = rows.doubtfulKeys
    if keys.isEmpty { return }
    do {
      try unreadable.read(Array(keys))
    } catch let error as StoreError where error.isSuspended || error.isOutgrown {
      // They stay doubtful: the sides are looked at again when the store is resumed, or with the next news.
      return
    }
    rows.settle(keys)
  }

  /// Steps that are made at most before the first of them is given.
  private static var mostTurns: Int { 3 }

  /// Makes the steps for a change of the models, if there is one, and for all that belongs to it.
  private func follow(_ change: ResultChange<Model>?, _ state: inout State) throws {
    var change = change
    var turnCount = 0
    while let models = change {
      turnCount += 1
      let other = try others.look(true)
      if let other { state.rows.note(others: other) }
      if let step = state.rows.take(models: models) { state.steps.append(step) }
      // Where nothing has become of the others, all is of the moment at which the models were read. Who writes to
      // both without a pause must not keep the steps from being given: the rest comes with the next look.
      change = other == nil || turnCount == Self.mostTurns ? nil : try self.models.look(true)
    }
    if let step = state.rows.owedStep() { state.steps.append(step) }
  }
}

/// What a watch of others that leaves out those that cannot be read still knows of them: they are an error only
/// once a model asks for one.
struct UnreadableOthers<Key: Sendable>: Sendable {
  /// The keys that were reported since the last time, as reports have them.
  let takeReports: @Sendable () -> Set<String>
  /// - Throws: Where one of these cannot be read.
  let read: @Sendable ([Key]) throws -> Void
}

/// One iteration of a watch that can be looked at without waiting.
private struct WatchedSide<Element: Sendable>: Sendable {
  /// What is new at once, also of what is ignored if true is given; nil where nothing is.
  let look: @Sendable (_ withIgnored: Bool) throws -> Element?
  /// Returns when there may be something new; nil when nothing comes any more.
  let wait: @Sendable () async throws -> Void?

  init(_ sequence: WatchSequence<Element>) {
    guard let watcher = sequence.makeWatcher?() else {
      let step = sequence.makeAsyncIterator().step
      // It cannot be asked for what it ignores, nor without waiting: new is what it has given already.
      let found = Locked<[Element]>([])
      look = { _ in found.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
      wait = {
        guard let element = try await step() else { return nil }
        found.withLock { $0.append(element) }
        return ()
      }
      return
    }
    look = { try watcher.look(withIgnored: $0) }
    wait = { await watcher.wait() }
  }
}
