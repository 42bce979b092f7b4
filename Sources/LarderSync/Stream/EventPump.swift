internal import Larder

/// The work behind one iteration of a stream: reads the watch when a value is wanted, and has the
/// updater sync once the first one is there, and then each time that it is due.
struct EventPump<Value: Sendable>: Sendable {
  let watch: WatchSequence<Value>
  let refresh: RefreshLoop?
  let clock: any SyncClock

  /// How long after a failure the watch is begun again; the double after each further one, up to
  /// the second.
  static var firstPause: Duration { .seconds(1) }
  static var longestPause: Duration { .seconds(60) }

  /// Returns when the task is cancelled or nothing more can come.
  func run(into mailbox: Mailbox<Value>) async {
    let end = WatchEnd()
    await withDiscardingTaskGroup { group in
      var refresh = refresh
      func beginRefresh() {
        guard let due = refresh else { return }
        refresh = nil
        group.addTask {
          await due.run(until: end) { error in
            mailbox.put(.failure(error), from: .updater)
          } onState: { state in
            mailbox.put(.refresh(state), from: .state)
          }
        }
      }
      var pause = Self.firstPause
      var told: String?
      watching: while !Task.isCancelled {
        var values = watch.makeAsyncIterator()
        let closing = WatchClosing()
        do {
          while await mailbox.isValueWanted() {
            let next = try await closing.noting { try await values.next() }
            guard let value = next else { break watching }
            mailbox.put(.value(value))
            pause = Self.firstPause
            told = nil
            beginRefresh()
          }
          break watching
        } catch StoreError.closed {
          mailbox.put(.failure(StoreError.closed))
          // Before the updater has heard of it, which may take its time.
          mailbox.finish()
          group.cancelAll()
          break watching
        } catch {
          // The same again would be news to nobody.
          if told != "\(error)" { mailbox.put(.failure(error)) }
          told = "\(error)"
          beginRefresh()
        }
        await sleep(for: pause, unless: closing)
        withExtendedLifetime(values) {}
        pause = min(pause * 2, Self.longestPause)
      }
      end.come()
    }
    mailbox.finish()
  }

  /// Returns when the time has passed, when the store that was watched is closed, which the next look tells
  /// of, or when the task is cancelled.
  private func sleep(for pause: Duration, unless closing: WatchClosing) async {
    await withTaskGroup(of: Void.self) { group in
      // Fails when the task is cancelled only.
      group.addTask { try? await clock.sleep(for: pause) }
      if closing.isKnown { group.addTask { await closing.wait() } }
      await group.next()
      group.cancelAll()
    }
  }
}
