import Larder
import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct RemoteControlRouterTests {
  let journal = Journal()
  let events = EventLog()

  private func router() -> RemoteControlRouter {
    RemoteControlRouter { [events] in events.note($0) }
  }

  @Test("a screen that is shown, changes and is closed is told of")
  func told() async {
    let router = router()
    let viewModel = OnboardingDouble(journal)
    router.show(.onboarding(viewModel))
    await router.perform(line: #"{"do": "next"}"#)
    router.close(viewModel)
    viewModel.onChange()
    #expect(events.all.map(\.event) == ["shown", "changed", "closed"])
    #expect(events.all.map(\.how) == ["root", nil, nil])
    #expect(events.all.map(\.screen?.page) == [1, 2, nil])
    #expect(events.all.map(\.open) == [["onboarding"], ["onboarding"], []])
  }

  @Test("what stays closes the view model that is not shown, and forgets it")
  func stay() async {
    let router = router()
    let first = BookModelDouble(journal, "a")
    let second = BookModelDouble(journal, "a")
    router.show(.book(first))
    router.show(.book(second))
    #expect(!first.isClosed)
    #expect(second.isClosed)
    #expect(events.all.map(\.how) == ["root", "stay"])
    #expect(router.openScreens == ["book"])
  }

  @Test(
    "what is no command, or none of the screen, is refused",
    arguments: [
      "", "x", "[]", "{}", #"{"do": 7}"#, #"{"do": "fly"}"#, #"{"do": "pay", "text": "1"}"#,
      #"{"do": "rate"}"#, #"{"do": "rate", "number": "4"}"#, #"{"do": "link"}"#,
      #"{"do": "wait"}"#,
    ])
  func refused(_ line: String) async {
    let router = router()
    router.show(.book(BookModelDouble(journal, "a")))
    await router.perform(line: line)
    #expect(events.all.map(\.event) == ["shown", "refused"])
    #expect(journal.lines == [])
  }

  @Test("where nothing is shown there is nothing to do")
  func nothing() async {
    let router = router()
    await router.perform(line: #"{"do": "next"}"#)
    await router.perform(line: #"{"do": "back"}"#)
    #expect(events.all.map(\.event) == ["refused", "refused"])
  }

  @Test("who waits goes on when the screen is seen, and is refused when it does not come")
  func wait() async {
    let router = router()
    let waiting = Task { await router.perform(line: #"{"do": "wait", "text": "onboarding"}"#) }
    await Task.yield()
    router.show(.onboarding(OnboardingDouble(journal)))
    await waiting.value
    #expect(events.all.map(\.event) == ["shown"])

    router.patience = .milliseconds(1)
    await router.perform(line: #"{"do": "wait", "text": "catalogue"}"#)
    #expect(events.all.last?.text == "\"catalogue\" did not come; open are [\"onboarding\"]")
  }

  @Test("a catalogue has nothing behind it")
  func back() async {
    let router = router()
    let viewModel = CatalogueModelDouble(journal)
    router.show(.catalogue(viewModel))
    await router.perform(line: #"{"do": "back"}"#)
    #expect(!viewModel.isClosed)
  }

  @Test("a script that waits for books goes on when there are so many")
  func waitForBooks() async {
    let router = router()
    let viewModel = CatalogueModelDouble(journal)
    router.show(.catalogue(viewModel))
    let waiting = Task {
      await router.perform(line: #"{"do": "wait", "text": "catalogue", "number": 2}"#)
    }
    await Task.yield()
    for count in 1...2 {
      viewModel.books = Rows((0..<count).map { Book.example("\($0)") })
      viewModel.onChange()
    }
    await waiting.value
    #expect(events.all.map(\.screen?.books?.count) == [0, 1, 2])
  }

  @Test(
    "a command is what a reader does on the screen that is seen",
    arguments: [
      (#"{"do": "find", "text": "x"}"#, "find x"), (#"{"do": "basketOnly"}"#, "toggleBasketOnly"),
      (#"{"do": "open", "text": "a"}"#, "open a"), (#"{"do": "refresh"}"#, "refresh"),
      (#"{"do": "settings"}"#, "openSettings"),
    ])
  func commands(_ line: String, _ message: String) async {
    let router = router()
    router.show(.catalogue(CatalogueModelDouble(journal)))
    await router.perform(line: line)
    #expect(journal.lines == ["ViewModel: \(message)"])
  }
}
