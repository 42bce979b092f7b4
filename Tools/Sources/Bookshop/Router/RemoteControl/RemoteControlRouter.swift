internal import Foundation

/// A router without a screen: lines of JSON come in as what a reader does, and go out as what a
/// reader would see. The rest of the app cannot tell it from the other one.
final class RemoteControlRouter: Router {
  private var stack = ScreenStack()
  private let output: (RemoteEvent) -> Void
  /// What was told of the screen that is seen.
  private var told: ScreenState?
  private var waiting: (wanted: Wanted, continuation: CheckedContinuation<Bool, Never>)?
  var onLink: (String) -> Void = { _ in }
  var onQuit: () -> Void = {}
  var onReturn: () -> Void = {}
  /// How long `wait` waits: a busy machine may be held up on the way to a screen.
  var patience = Duration.seconds(1_000)

  init(output: @escaping (RemoteEvent) -> Void) { self.output = output }

  /// The screen that is seen.
  var screen: Screen? { stack.top?.screen }
  var openScreens: [String] { stack.entries.map { "\($0.screen.name)" } }

  func setUp() {}

  func show(_ screen: Screen) {
    let (transition, dismissed) = stack.show(screen)
    if transition != .stay {
      screen.viewModel.onChange = { [weak self] in self?.tellChange() }
    }
    tellScreen("shown", transition)
    dismissed?.onChange = {}
    dismissed?.close()
  }

  func close(_ viewModel: any ViewModel) {
    guard stack.close(viewModel) else { return }
    viewModel.onChange = {}
    tellScreen("closed")
  }

  func tell(_ text: String) { output(RemoteEvent(event: "message", text: text)) }

  /// Does what a line says; returns when it is done.
  func perform(line: String) async {
    do {
      try await perform(RemoteCommand(line: line))
    } catch let refusal as RemoteRefusal {
      output(RemoteEvent(event: "refused", text: refusal.text))
    } catch {
      output(RemoteEvent(event: "refused", text: "\(error)"))
    }
  }

  private func perform(_ command: RemoteCommand) async throws {
    switch command.action {
    case "quit": onQuit()
    case "comeBack": onReturn()
    case "link": onLink(try command.requireText())
    case "look": tellScreen("shown")
    case "wait":
      try await wait(
        for: Wanted(name: command.requireText(), bookCount: command.number ?? 0))
    case "back":
      guard let top = stack.top else { throw RemoteRefusal("nothing is shown") }
      // A catalogue has nothing behind it.
      if case .catalogue = top.screen { return }
      top.screen.viewModel.close()
    default:
      guard let top = stack.top else { throw RemoteRefusal("nothing is shown") }
      try await top.screen.perform(command)
    }
  }

  // MARK: Telling

  private func tellScreen(_ event: String, _ transition: Transition? = nil) {
    told = stack.top.map { ScreenState($0.screen) }
    output(
      RemoteEvent(event: event, how: transition?.rawValue, screen: told, open: openScreens))
    endWait()
  }

  private func tellChange() {
    guard let state = stack.top.map({ ScreenState($0.screen) }), state != told else { return }
    tellScreen("changed")
  }

  // MARK: Waiting

  /// What a script waits for: a screen that was read, and shows at least so many books.
  private struct Wanted {
    let name: String
    let bookCount: Int
  }

  private func isShown(_ wanted: Wanted) -> Bool {
    guard let state = stack.top.map({ ScreenState($0.screen) }) else { return false }
    return state.name == wanted.name && state.isLoaded != false
      && state.books?.count ?? 0 >= wanted.bookCount
  }

  private func endWait() {
    guard let (wanted, continuation) = waiting, isShown(wanted) else { return }
    waiting = nil
    continuation.resume(returning: true)
  }

  /// - Throws: ``RemoteRefusal`` when the screen does not come.
  private func wait(for wanted: Wanted) async throws {
    if isShown(wanted) { return }
    guard waiting == nil else { throw RemoteRefusal("somebody waits already") }
    let watchdog = Task {
      try await Task.sleep(for: patience)
      let continuation = waiting?.continuation
      waiting = nil
      continuation?.resume(returning: false)
    }
    let isThere = await withCheckedContinuation { waiting = (wanted, $0) }
    watchdog.cancel()
    if !isThere {
      throw RemoteRefusal("\"\(wanted.name)\" did not come; open are \(openScreens)")
    }
  }
}

extension Screen {
  /// Does what the reader of this screen can do.
  ///
  /// - Throws: ``RemoteRefusal`` for anything else.
  @MainActor fileprivate func perform(_ command: RemoteCommand) async throws {
    switch (self, command.action) {
    case (.onboarding(let viewModel), "next"): viewModel.next()
    case (.onboarding(let viewModel), "takeOffer"): viewModel.takeOffer()
    case (.signIn(let viewModel), "phone"):
      await viewModel.submit(phone: try command.requireText())
    case (.signIn(let viewModel), "code"): await viewModel.submit(code: try command.requireText())
    case (.signIn(let viewModel), "resend"): await viewModel.resend()
    case (.payment(let viewModel), "pay"): await viewModel.pay(card: try command.requireText())
    case (.catalogue(let viewModel), "find"): viewModel.find(try command.requireText())
    case (.catalogue(let viewModel), "basketOnly"): viewModel.toggleBasketOnly()
    case (.catalogue(let viewModel), "open"): viewModel.open(try command.requireText())
    case (.catalogue(let viewModel), "refresh"): await viewModel.refresh()
    case (.catalogue(let viewModel), "settings"): viewModel.openSettings()
    case (.book(let viewModel), "rate"): await viewModel.rate(try command.requireNumber())
    case (.book(let viewModel), "basket"): await viewModel.toggleBasket()
    case (.settings(let viewModel), "signOut"): viewModel.signOut()
    default: throw RemoteRefusal("\"\(command.action)\" means nothing on the screen \(name)")
    }
  }
}
