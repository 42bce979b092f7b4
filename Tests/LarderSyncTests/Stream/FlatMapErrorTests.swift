import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct FlatMapErrorTests {
  @Test("values go on while the handler of a failure waits")
  func goingOn() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let presenter = RecordingPresenter()
      let updater = RecordingUpdater(.failure(Offline()))
      let stream = sellers.stream(Seller.byOrder, refreshedBy: updater)
      let log = Log()
      let task = Task {
        for await rows in stream.flatMapError({ await presenter.showMessage("\($0)") }) {
          log.add("\(rows.count)")
        }
      }
      await presenter.waitForMessages(1)

      for count in 1...20 {
        try await sellers.save(Seller.many(count))
        await log.waitForLine("\(count)")
      }

      #expect(log.lines == (0...20).map { "\($0)" })
      #expect(presenter.openCount == 1)
      presenter.answer()
      await presenter.waitForAnswers(1)
      #expect(presenter.messages == [Message("offline")])
      task.cancel()
      await task.value
    }
  }

  @Test(
    "of failures behind the one in hand the latest is kept, and none that says the same",
    arguments: [
      ([1], [1]), ([1, 1, 1], [1]), ([1, 2], [1, 2]), ([1, 2, 3, 3], [1, 3]), ([1, 2, 1], [1, 2]),
    ])
  func coalescing(failures: [Int], handled: [Int]) async {
    let feed = EventFeed<Int>()
    let presenter = RecordingPresenter()
    for number in failures { feed.send(.failure(Offline(number: number))) }
    feed.send(.value(0))
    var values = feed.stream.flatMapError { await presenter.showMessage("\($0)") }
      .makeAsyncIterator()

    #expect(await values.next() == 0)

    feed.finish()
    for count in 1...handled.count {
      await presenter.waitForMessages(count)
      #expect(presenter.openCount == 1)
      presenter.answer()
    }
    #expect(await values.next() == nil)
    #expect(presenter.messages == handled.map { Message("offline \($0)") })
  }

  @Test("a failure after one that was handled is handled too")
  func again() async {
    let feed = EventFeed<Int>()
    let presenter = RecordingPresenter()
    let task = Task {
      for await _ in feed.stream.flatMapError({ await presenter.showMessage("\($0)") }) {}
    }

    for number in 1...3 {
      feed.send(.failure(Offline(number: number)))
      await presenter.waitForMessages(number)
      presenter.answer()
      await presenter.waitForAnswers(number)
    }
    feed.finish()
    await task.value

    #expect(presenter.messages == (1...3).map { Message("offline \($0)") })
  }

  @Test("leaving the loop takes away the message that is open, and keeps nothing alive")
  func leaving() async {
    let presenter = RecordingPresenter()
    weak var owner: Owner?
    do {
      let feed = EventFeed<Int>()
      feed.send(.failure(Offline()))
      feed.send(.failure(Offline(number: 2)))
      feed.send(.value(1))
      let kept = Owner()
      owner = kept
      let values = feed.stream.flatMapError { error in
        await presenter.showMessage("\(error)")
        _ = kept
      }
      for await _ in values {
        await presenter.waitForMessages(1)
        break
      }
    }

    await presenter.waitForAnswers(1)
    await settle { owner == nil }

    #expect(presenter.openCount == 0)
    #expect(presenter.messages == [Message("offline")])
  }

  @Test("cancelling the task takes away the message that is open", arguments: [false, true])
  func cancelling(isAtItsEnd: Bool) async {
    let feed = EventFeed<Int>()
    let presenter = RecordingPresenter()
    feed.send(.failure(Offline()))
    if isAtItsEnd { feed.finish() }
    let task = Task {
      for await _ in feed.stream.flatMapError({ await presenter.showMessage("\($0)") }) {}
    }
    await presenter.waitForMessages(1)

    task.cancel()
    await task.value

    await presenter.waitForAnswers(1)
    #expect(presenter.openCount == 0)
  }

  @Test("a loop that is cancelled at the end of its sequence ends, whatever its handler does")
  func deaf() async {
    let feed = EventFeed<Int>()
    feed.send(.failure(Offline()))
    feed.finish()
    let (pause, go) = AsyncStream<Void>.makeStream()
    let (begins, begin) = AsyncStream<Void>.makeStream()
    let log = Log()
    let values = feed.stream.flatMapError { _ in
      begin.yield()
      // A task of its own does not hear that this one is cancelled.
      await Task { for await _ in pause {} }.value
      log.add("done")
    }
    let task = Task { for await _ in values {} }
    for await _ in begins { break }

    task.cancel()
    await task.value

    #expect(log.lines.isEmpty)
    go.finish()
    await log.waitForLines(1)
  }

  @Test("a sequence that throws cancels the handler")
  func throwing() async {
    let (events, input) = AsyncThrowingStream<Event<Int>, any Error>.makeStream()
    let presenter = RecordingPresenter()
    input.yield(.failure(Offline()))
    input.yield(.value(1))
    var values = events.flatMapError { await presenter.showMessage("\($0)") }.makeAsyncIterator()
    #expect(await (try? values.next()) == 1)
    await presenter.waitForMessages(1)

    input.finish(throwing: Offline(number: 2))
    await #expect(throws: Offline(number: 2)) { try await values.next() }

    await presenter.waitForAnswers(1)
    #expect(presenter.openCount == 0)
  }

  @Test("a closed store ends the loop once its last failure was handled")
  func closed() async throws {
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    let presenter = RecordingPresenter()
    let task = Task {
      var count = 0
      for await _ in sellers.stream(Seller.all)
        .flatMapError({ await presenter.showMessage("\($0)") })
      {
        count += 1
        try store.close(timeout: .seconds(300))
      }
      return count
    }
    await presenter.waitForMessages(1)

    presenter.answer()

    #expect(try await task.value == 1)
    #expect(presenter.messages == [Message("\(StoreError.closed)")])
  }
}

private final class Owner: Sendable {}
