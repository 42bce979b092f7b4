internal import LarderLMDB
public import LarderSync

/// A consumer that records what a stream gives it, from now until it is released.
///
/// ```swift
/// let recorder = EventRecorder(contacts.stream(Contact.all, refreshedBy: updater))
/// await recorder.waitForEvents(2)
/// #expect(recorder.values == [[], page])
/// ```
/// Each wait also ends when its task is cancelled, so that a test ends at its time limit.
public final class EventRecorder<Value: Sendable>: Sendable {
  private let recorded = Tally<Event<Value>>()
  private let ends = Tally<Void>()
  private let task: Task<Void, Never>

  /// Begins to iterate the stream, and goes on until it is released.
  public init(_ stream: EventStream<Value>) {
    task = Task { [recorded, ends] in
      for await event in stream { recorded.append(event) }
      ends.append(())
    }
  }

  deinit { task.cancel() }

  /// Everything that came, in that order.
  public var events: [Event<Value>] { recorded.elements }
  /// The values that came so far, in their order.
  public var values: [Value] { events.compactMap(\.value) }
  /// The failures that came so far, in their order.
  public var errors: [any Error] { events.compactMap(\.error) }
  /// How fresh the stream said that its values were.
  public var refreshStates: [RefreshState] { events.compactMap(\.refresh) }
  /// Whether the stream has come to its end.
  public var isFinished: Bool { !ends.elements.isEmpty }

  /// Leaves the stream.
  public func cancel() { task.cancel() }

  /// Returns when there were so many events.
  public func waitForEvents(_ count: Int) async { await recorded.wait(for: count) }

  /// Returns when there were so many values, whatever came between them.
  public func waitForValues(_ count: Int) async { await wait { values.count >= count } }

  /// Returns when there were so many failures, whatever came between them.
  public func waitForErrors(_ count: Int) async { await wait { errors.count >= count } }

  private func wait(until condition: () -> Bool) async {
    while !Task.isCancelled {
      let count = events.count
      if condition() { return }
      await waitForEvents(count + 1)
    }
  }

  /// Returns when the stream has come to its end.
  public func waitForEnd() async { await ends.wait(for: 1) }

  /// Returns when an event came for which `condition` holds.
  ///
  /// - Parameter isolation: The actor whose state the condition may use: the caller's.
  public func waitForEvent(
    isolation: isolated (any Actor)? = #isolation, where condition: (Event<Value>) -> Bool
  ) async {
    var seen = 0
    while !Task.isCancelled {
      let events = events
      if events.dropFirst(seen).contains(where: condition) { return }
      seen = events.count
      await waitForEvents(seen + 1)
    }
  }
}
