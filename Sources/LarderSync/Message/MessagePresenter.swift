/// Something that the user is told, with one answer.
public struct Message: Sendable, Hashable {
  /// What people are shown.
  public let text: String
  /// What the one button, or its like, says.
  public let answer: String

  /// A message with the one answer that it can be given.
  public init(_ text: String, answer: String = "OK") {
    self.text = text
    self.answer = answer
  }
}

/// Shows messages to the user: an alert, a line in a terminal, or in a test a list of them.
public protocol MessagePresenter: Sendable {
  /// Shows a message; returns when the user has answered it, or when the task is cancelled and the
  /// message was taken away again.
  func present(_ message: Message) async
}

extension MessagePresenter {
  /// Shows a text with the answer "OK"; returns when the user has given it, or when the task is
  /// cancelled.
  public func showMessage(_ text: String) async { await present(Message(text)) }

  /// Shows a text with the answer "OK", once for each iteration, when that asks for its first
  /// element.
  ///
  /// - Parameter withEvent: Whether the answer is an element; otherwise the sequence ends with it
  ///   and has none.
  public func showMessage(_ text: String, withEvent: Bool) -> MessageAnswers {
    MessageAnswers(isEvent: withEvent) { await present(Message(text)) }
  }
}

/// A message as a sequence: it is shown when the first element is asked for, and ends when it was
/// answered, with one element or none.
public struct MessageAnswers: AsyncSequence, Sendable {
  public typealias Element = Void
  public typealias Failure = Never

  let isEvent: Bool
  let present: @Sendable () async -> Void

  public struct AsyncIterator: AsyncIteratorProtocol {
    let answers: MessageAnswers
    var isShown = false

    /// Waits for the answer; nil when there is no element for it, or no further one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Void? {
      if isShown { return nil }
      isShown = true
      await answers.present()
      // A message that was taken away has no answer.
      return answers.isEvent && !Task.isCancelled ? () : nil
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(answers: self) }
}
