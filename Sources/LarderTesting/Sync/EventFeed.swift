internal import LarderLMDB
public import LarderSync

/// A stream that a test feeds, in place of a repository's. For one consumer.
///
/// ```swift
/// let feed = EventFeed<Rows<Contact>>()
/// let screen = ContactScreen(feed.stream)
/// feed.send(.failure(Offline()))
/// ```
public final class EventFeed<Value: Sendable>: Sendable {
  private let events: AsyncStream<Event<Value>>
  private let input: AsyncStream<Event<Value>>.Continuation
  private let asked = Tally<Void>()

  /// A feed that has sent nothing.
  public init() { (events, input) = AsyncStream.makeStream() }

  /// Gives an event to the stream's consumer.
  public func send(_ event: Event<Value>) { input.yield(event) }

  /// Ends the stream, once what was sent has been taken.
  public func finish() { input.finish() }

  /// The events that were sent, also before it was asked for them.
  public var stream: EventStream<Value> {
    EventStream { [events, asked] in
      let reader = Reader(events, asked)
      return { await reader.next() }
    }
  }

  /// How often the consumer has asked.
  public var questionCount: Int { asked.elements.count }

  /// Returns when the consumer has asked so many times: it is done with one event less.
  public func waitForQuestions(_ count: Int) async { await asked.wait(for: count) }

  /// An actor, because an iterator must not be asked twice at a time.
  private actor Reader {
    private var iterator: AsyncStream<Event<Value>>.Iterator
    private let asked: Tally<Void>

    init(_ events: AsyncStream<Event<Value>>, _ asked: Tally<Void>) {
      iterator = events.makeAsyncIterator()
      self.asked = asked
    }

    func next() async -> Event<Value>? {
      asked.append(())
      var iterator = iterator
      return await iterator.next(isolation: self)
    }
  }
}
