import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct OperatorTests {
  private let page = Seller.many(2)

  /// A stream that gives these events and ends.
  private func stream<Value>(_ events: [Event<Value>]) -> EventStream<Value> {
    let feed = EventFeed<Value>()
    for event in events { feed.send(event) }
    feed.finish()
    return feed.stream
  }

  private func all<Source: AsyncSequence>(
    _ source: Source
  ) async throws -> [Source.Element] {
    var elements: [Source.Element] = []
    for try await element in source { elements.append(element) }
    return elements
  }

  @Test("flatMapError gives failures to its handler and lets the values through, each in order")
  func handled() async throws {
    let log = Log()
    let events: [Event<Int>] = [
      .failure(Offline(number: 1)), .value(1), .value(2), .failure(Offline(number: 2)), .value(3),
    ]

    #expect(try await all(stream(events).flatMapError({ log.add("\($0)") })) == [1, 2, 3])

    #expect(log.lines == ["offline 1", "offline 2"])
  }

  @Test("flatMapError without a handler drops failures")
  func dropped() async throws {
    let events: [Event<Int>] = [.failure(Offline()), .value(1), .failure(Offline())]

    #expect(try await all(stream(events).flatMapError()) == [1])
    #expect(try await all(stream(events).flatMapError(nil)) == [1])
  }

  @Test("flatMapError takes a handler that is a sequence, and drops what it gives")
  func sequences() async throws {
    let presenter = RecordingPresenter(answersAtOnce: true)
    let events: [Event<Int>] = [.value(1), .failure(Offline()), .value(2)]

    for withEvent in [false, true] {
      let values = stream(events).flatMapError {
        presenter.showMessage("\($0)", withEvent: withEvent)
      }
      #expect(try await all(values) == [1, 2])
    }

    #expect(presenter.messages == [Message("offline"), Message("offline")])
  }

  @Test("a handler that is a sequence which fails does no harm")
  func failingSequences() async throws {
    let values = stream([.failure(Offline()), .value(1)]).flatMapError { error in
      AsyncThrowingStream<Int, any Error> { $0.finish(throwing: error) }
    }

    #expect(try await all(values) == [1])
  }

  @Test("values has the values alone, failures the failures")
  func halves() async throws {
    let events: [Event<Int>] = [
      .failure(Offline(number: 1)), .value(1), .failure(Offline(number: 2)), .value(2),
    ]

    #expect(try await all(stream(events).values) == [1, 2])
    #expect(
      try await all(stream(events).failures).map { "\($0)" } == ["offline 1", "offline 2"])
  }

  @Test("first has the first model of each result that has one, and lets failures through")
  func first() async throws {
    let events: [Event<[Seller]>] = [
      .value([]), .value(page), .failure(Offline()), .value(page.reversed()),
    ]

    let found = try await all(stream(events).first)

    #expect(found == [.value(page[0]), .failure(Offline()), .value(page[1])])
    #expect(try await all(stream(events).first.flatMapError()) == [page[0], page[1]])
  }

  @Test("an operator asks its stream for no more than it is asked for itself")
  func demand() async {
    let feed = EventFeed<Int>()
    var values = feed.stream.flatMapError().makeAsyncIterator()
    for number in 1...3 { feed.send(.value(number)) }

    let value = await values.next()
    #expect(value == 1)

    await feed.waitForQuestions(1)
    #expect(feed.questionCount == 1)
  }
}
