import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct MessagePresenterTests {
  @Test("showMessage shows the text with one answer, OK, and returns when it is given")
  func showing() async {
    let presenter = RecordingPresenter()
    let log = Log()
    let task = Task {
      await presenter.showMessage("No network")
      log.add("answered")
    }

    await presenter.waitForMessages(1)
    #expect(presenter.messages == [Message("No network", answer: "OK")])
    #expect(presenter.openCount == 1)
    #expect(log.lines.isEmpty)
    presenter.answer()
    await task.value

    #expect(presenter.openCount == 0)
    #expect(log.lines == ["answered"])
  }

  @Test("with an event the sequence has one element, after the answer")
  func withEvent() async {
    let presenter = RecordingPresenter()
    let log = Log()
    let task = Task {
      for await _ in presenter.showMessage("No network", withEvent: true) { log.add("event") }
      log.add("end")
    }

    await presenter.waitForMessages(1)
    #expect(log.lines.isEmpty)
    presenter.answer()
    await task.value

    #expect(log.lines == ["event", "end"])
    #expect(presenter.messages.count == 1)
  }

  @Test("without an event the sequence ends with the answer")
  func withoutEvent() async {
    let presenter = RecordingPresenter()
    let log = Log()
    let task = Task {
      for await _ in presenter.showMessage("No network", withEvent: false) { log.add("event") }
      log.add("end")
    }

    await presenter.waitForMessages(1)
    #expect(log.lines.isEmpty)
    presenter.answer()
    await task.value

    #expect(log.lines == ["end"])
  }

  @Test("a message as a sequence is shown when that is asked, once for each iteration")
  func cold() async {
    let presenter = RecordingPresenter(answersAtOnce: true)
    let message = presenter.showMessage("No network", withEvent: true)
    #expect(presenter.messages.isEmpty)

    for await _ in message {}
    for await _ in message {}

    #expect(presenter.messages.count == 2)
  }

  @Test("a message whose task is cancelled is taken away, and has no event")
  func cancelling() async {
    let presenter = RecordingPresenter()
    let log = Log()
    let task = Task {
      for await _ in presenter.showMessage("No network", withEvent: true) { log.add("event") }
    }
    await presenter.waitForMessages(1)

    task.cancel()
    await task.value

    #expect(presenter.openCount == 0)
    #expect(log.lines.isEmpty)
  }
}
