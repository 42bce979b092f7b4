/// What stands between the sources of a stream and its consumer: a state machine that is told what
/// happened and says what is to be done. It knows no lock, task or clock.
///
/// The watch is asked for a value only when the consumer waits for one, or has got something else instead, so
/// that nothing piles up here: at most one value, the latest failure of the updater, those of one watch, and how
/// fresh the values are.
struct EventQueue<Value: Sendable> {
  typealias Consumer = UnsafeContinuation<Event<Value>?, Never>
  typealias Offer = UnsafeContinuation<Bool, Never>

  enum Action {
    case none
    /// Gives the consumer an event, or the end.
    case give(Event<Value>?, Consumer)
    /// Gives the consumer an event, and tells the source that a value is wanted.
    case giveAndTell(Event<Value>, Consumer, Offer)
    /// Tells the source that a value is wanted, or that none will be any more.
    case tell(Bool, Offer)
    case giveEnd([Consumer], Offer?)
  }

  /// Whose event it is.
  enum Source {
    case watch
    /// Of whose failures the latest is of interest.
    case updater
    /// Of which the latest is of interest.
    case state
  }

  private var events: [(event: Event<Value>, source: Source)] = []
  /// One, unless somebody lets two tasks wait at one iterator.
  private var consumers: [Consumer] = []
  private var source: Offer?
  /// Whether somebody asked and got something else, so that the watch is to be asked: there may be something else
  /// each time.
  private var isValueOwed = false
  private var isFinished = false

  /// A consumer waits for an event.
  mutating func ask(_ consumer: Consumer) -> Action {
    if !events.isEmpty {
      let (event, kind) = events.removeFirst()
      guard kind != .watch, !isFinished, !events.contains(where: { $0.source == .watch }) else {
        return .give(event, consumer)
      }
      isValueOwed = true
      guard let source else { return .give(event, consumer) }
      self.source = nil
      return .giveAndTell(event, consumer, source)
    }
    if isFinished { return .give(nil, consumer) }
    consumers.append(consumer)
    return releaseSource(isWanted: true)
  }

  /// The source waits to be asked for a value.
  mutating func offer(_ source: Offer) -> Action {
    if isFinished { return .tell(false, source) }
    if !consumers.isEmpty || isValueOwed { return .tell(true, source) }
    self.source = source
    return .none
  }

  /// Something happened.
  mutating func put(_ event: Event<Value>, from source: Source) -> Action {
    if isFinished { return .none }
    if source == .watch { isValueOwed = false }
    if !consumers.isEmpty { return .give(event, consumers.removeFirst()) }
    if source != .watch { events.removeAll { $0.source == source } }
    events.append((event, source))
    return .none
  }

  /// Nothing happens any more; what has is still given.
  mutating func finish() -> Action {
    isFinished = true
    defer {
      consumers = []
      source = nil
    }
    return .giveEnd(consumers, source)
  }

  /// Nobody wants to know any more.
  mutating func abandon() -> Action {
    events = []
    return finish()
  }

  private mutating func releaseSource(isWanted: Bool) -> Action {
    guard let source else { return .none }
    self.source = nil
    return .tell(isWanted, source)
  }
}
