internal import Larder
internal import LarderLMDB
internal import LarderSync

extension SyncEngine {
  /// Keeps the store in step until the task is cancelled or the store is closed: syncs at once, after each edit,
  /// when the remote hints that there is something new, when the interval has passed, and after a failure when it
  /// is time to try again. What fails shows in ``states``.
  public func run() async {
    // Taken now, so that no edit is missed that is made before the loop first looks.
    let start = try? store.changeToken()
    await withTaskGroup(of: Void.self) { group in
      // Others than these end for want of work.
      let isOver = Locked(false)
      group.addTask { [self] in
        if await runSchedule() { isOver.withLock { $0 = true } }
      }
      group.addTask { [self] in
        if await runEdits(after: start) { isOver.withLock { $0 = true } }
      }
      group.addTask { [self] in await runHints() }
      while await group.next() != nil {
        if isOver.withLock({ $0 }) { group.cancelAll() }
      }
    }
  }

  /// Syncs once, within so much time: for the background time that a system gives an app. What is under way
  /// when it is over is broken off, and goes on with the next sync.
  ///
  /// - Returns: Whether everything was done; false after ``pause()``, too, where edits were sent that the remote has no
  ///   answer to yet, and where edits wait to hear in which scope their document is by now.
  /// - Throws: As ``sync(_:)``.
  @discardableResult
  public func run(budget: Duration) async throws -> Bool {
    let isOver = Locked(false)
    do {
      let status = try await withThrowingTaskGroup(of: UpdateStatus?.self) { group in
        group.addTask { [self] in try await sync(.afterNow) }
        group.addTask { [self] in
          try await limiter.sleep(for: budget)
          isOver.withLock { $0 = true }
          limiter.cancel()
          // Whoever runs as well goes on when the interval has passed: what was called off may be the sync of others,
          // and end later than this.
          if !isPaused { limiter.wake() }
          return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
      }
      if status == .skipped || isOver.withLock({ $0 }) { return false }
      return try !pending().contains { $0.status == .sent } && !tables.hasMovingEdits()
        && tables.shortened().isEmpty
    } catch is CancellationError
      where isOver.withLock({ $0 }) || isPaused && !Task.isCancelled
    {
      return false
    }
  }

  /// Syncs for an edit or a hint that has just come. After a failure these wait until it is time to try again.
  private func syncForNews() async {
    if limiter.refreshState.lastFailure != nil {
      guard (try? await sync(.ifDue)) == .skipped else { return }
      // A retry is under way, and may have asked too early for this. If it fails, the next one brings it.
      guard (try? await sync(.joining)) != nil else { return }
    }
    _ = try? await sync(.afterChange)
  }

  /// - Returns: Whether the store is closed.
  private func runSchedule() async -> Bool {
    var status = await syncUnlessClosed { [self] in try await sync(.joining) }
    // What was edited while nothing ran does not wait for the interval to pass.
    if status == .some(.skipped), !isPaused, (try? tables.hasDueEdits()) == true {
      status = await syncUnlessClosed { [self] in try await sync(.afterChange) }
    }
    while status != nil, !Task.isCancelled {
      await waitWhilePaused()
      guard (try? await limiter.waitUntilDue(joining: false)) != nil else { return false }
      if isPaused { continue }
      status = await syncUnlessClosed { [self] in try await syncUnlessPaused(.scheduled) }
      // Another was faster: not at once again.
      if status == .some(.skipped), (try? await limiter.sleep(for: .seconds(1))) == nil {
        return false
      }
    }
    return status == nil
  }

  /// - Returns: What came of it, the inner nil where it failed; nil where the store is closed, which no later sync would
  ///   change.
  private func syncUnlessClosed(
    _ sync: () async throws -> UpdateStatus
  ) async -> UpdateStatus?? {
    do {
      return try await sync()
    } catch StoreError.closed {
      return nil
    } catch {
      return .some(nil)
    }
  }

  /// - Returns: Whether the store is closed.
  private func runEdits(after start: ChangeToken?) async -> Bool {
    // Where there are none, it waits for the end alone.
    do {
      for try await _ in store.changes(
        after: start, in: sentCollections, origins: [.local, .imported])
      {
        // Conflicts and rejections are counted by syncs.
        renewPendingCount()
        await syncForNews()
      }
    } catch StoreError.closed {
      return true
    } catch {
      // There is no log of a collection: the interval is what is left.
    }
    return false
  }

  private func runHints() async {
    let pauses = Backoff(longest: .seconds(60))
    var failureCount = 0
    while !Task.isCancelled {
      await waitWhilePaused()
      var pause = Self.lookAgain
      switch await followHintsUntilPaused() {
      case .paused: continue
      case .absent: break
      case .lasted:
        failureCount = 1
        pause = pauses.pause(after: failureCount)
      case .failed:
        failureCount += 1
        pause = pauses.pause(after: failureCount)
      }
      guard (try? await limiter.sleep(for: pause)) != nil else { return }
    }
  }

  /// Why hints are not followed any more.
  private enum HintsEnd {
    /// The remote gives none.
    case absent
    /// The stream has ended or failed, after it had lasted.
    case lasted
    /// It has ended or failed soon, or was not opened at all.
    case failed
    /// The engine is paused, or its task is cancelled.
    case paused
  }

  private func followHintsUntilPaused() async -> HintsEnd {
    await withTaskGroup(of: HintsEnd.self) { group in
      group.addTask { [self] in await followHints() }
      group.addTask { [self] in
        await wait { $0 == .paused }
        return .paused
      }
      defer { group.cancelAll() }
      return await group.next() ?? .paused
    }
  }

  /// Returns when a sync has learned what the remote can do, or the task is cancelled.
  private func waitForFacts() async {
    // Each sync that has learned them changes the state afterwards.
    for await _ in states where facts.withLock({ $0 != nil }) { return }
  }

  private func followHints() async -> HintsEnd {
    // Only who knows the remote's facts knows whether it hints. Syncs learn them, and heed what a failing remote has said
    // of when it may be asked again.
    await waitForFacts()
    if Task.isCancelled { return .paused }
    guard let hints = remote.hints(tables.scopes) else { return .absent }
    return await follow(hints) ? .lasted : .failed
  }

  /// How long a stream of hints has to last until one that ends is no failure. Every stream begins with hints, so
  /// that having brought some says nothing. Proxies may cut streams that are some seconds old.
  private static let steadyTime: Duration = .seconds(5)

  /// How long a remote that gives no hints is not asked for them: another server may answer by then.
  private static let lookAgain: Duration = .seconds(300)

  /// Syncs when hints come, once for all those that come during a sync.
  ///
  /// - Returns: When the stream has ended or failed: whether it had lasted.
  private func follow(_ hints: AsyncThrowingStream<String, any Error>) async -> Bool {
    let (news, teller) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    async let syncs: Void = {
      for await _ in news { await syncForNews() }
    }()
    let start = clock.elapsed
    do {
      for try await _ in hints { teller.yield() }
    } catch {
      // It is opened again.
    }
    let hasLasted = clock.elapsed - start >= Self.steadyTime
    teller.finish()
    await syncs
    return hasLasted
  }

  // MARK: Pauses

  /// Returns when the engine is not paused, or the task is cancelled.
  private func waitWhilePaused() async {
    if isPaused { await wait { $0 != .paused } }
  }

  /// Returns when the engine is in such a phase, or the task is cancelled.
  private func wait(for isAwaited: (SyncState.Phase) -> Bool) async {
    for await state in states where isAwaited(state.phase) { return }
  }
}
