import Larder
import LarderSync
import LarderTesting
import Testing

/// The article's view controller, without a view: two fields that the first seller fills.
@MainActor private final class SellerScreen {
  private(set) var phone = ""
  private(set) var address = ""
  private var task: Task<Void, Never>?

  func bind(_ sellers: EventStream<Rows<Seller>>, _ presenter: some MessagePresenter) {
    task = Task { [weak self] in
      let first = sellers.first.flatMapError { await presenter.showMessage("\($0)") }
      for await seller in first {
        self?.phone = seller.phone
        self?.address = seller.address
      }
    }
  }

  deinit { task?.cancel() }
}

@MainActor @Suite(.timeLimit(.minutes(20))) struct SellerScreenTests {
  private let feed = EventFeed<Rows<Seller>>()
  private let presenter = RecordingPresenter()
  private let screen = SellerScreen()
  private let seller = Seller(id: 1, phone: "22 1", address: "Karl Johans gate 1")

  private var fields: [String] { [screen.phone, screen.address] }

  init() { screen.bind(feed.stream, presenter) }

  @Test("an error shows a message with one answer, and leaves the fields, also when it is answered")
  func error() async {
    feed.send(.failure(Offline()))
    await presenter.waitForMessages(1)

    #expect(presenter.messages == [Message("offline", answer: "OK")])
    #expect(presenter.openCount == 1)
    #expect(fields == ["", ""])

    presenter.answer()
    await presenter.waitForAnswers(1)
    await feed.waitForQuestions(2)

    #expect(presenter.openCount == 0)
    #expect(presenter.messages.count == 1)
    #expect(fields == ["", ""])
  }

  @Test("an empty result shows nothing and fills nothing")
  func empty() async {
    feed.send(.value([]))
    await feed.waitForQuestions(2)

    #expect(presenter.messages.isEmpty)
    #expect(fields == ["", ""])
  }

  @Test("a result fills the fields and shows nothing")
  func success() async {
    feed.send(.value([seller]))
    await feed.waitForQuestions(2)

    #expect(presenter.messages.isEmpty)
    #expect(fields == ["22 1", "Karl Johans gate 1"])
  }

  @Test("after an error results fill the fields as before")
  func afterError() async {
    feed.send(.failure(Offline()))
    feed.send(.value([]))
    feed.send(.value([seller]))
    await presenter.waitForMessages(1)
    presenter.answer()
    await feed.waitForQuestions(4)

    #expect(presenter.messages.count == 1)
    #expect(fields == ["22 1", "Karl Johans gate 1"])
  }
}
