internal import LarderLMDB
public import LarderSync

/// A presenter without a screen: it records messages, and answers them when a test says so.
public final class RecordingPresenter: MessagePresenter {
  private let shown = Tally<Message>()
  private let ends = Tally<Void>()
  private let held = HeldCalls<Void>()
  private let isPatient: Bool

  /// - Parameter answersAtOnce: Whether messages are answered as soon as they are shown; otherwise
  ///   they wait for ``answer()``.
  public init(answersAtOnce: Bool = false) { isPatient = !answersAtOnce }

  /// Every message, in the order in which they were shown.
  public var messages: [Message] { shown.elements }
  /// How many messages are on the screen.
  public var openCount: Int { shown.elements.count - ends.elements.count }

  public func present(_ message: Message) async {
    if isPatient {
      // Cancelled: the message is taken away.
      try? await held.hold { shown.append(message) }
    } else {
      shown.append(message)
    }
    ends.append(())
  }

  /// Answers the message that has waited longest; false when none does.
  @discardableResult
  public func answer() -> Bool { held.endFirst(.success(())) }

  /// Returns when so many messages were shown.
  public func waitForMessages(_ count: Int) async { await shown.wait(for: count) }

  /// Returns when so many messages were answered or taken away.
  public func waitForAnswers(_ count: Int) async { await ends.wait(for: count) }
}
