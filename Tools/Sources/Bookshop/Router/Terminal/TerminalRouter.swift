/// A router for a person: screens in a terminal, keys from it.
final class TerminalRouter: Router {
  private var stack = ScreenStack()
  private var faces: [ObjectIdentifier: ScreenFace] = [:]
  private var messages: [String] = []
  private let terminal: Terminal
  private var isDrawing = false
  private var ticking: Task<Void, Never>?
  var onLink: (String) -> Void = { _ in }
  var onQuit: () -> Void = {}
  var onReturn: () -> Void = {}

  init(terminal: Terminal) { self.terminal = terminal }

  func setUp() {
    terminal.onKey = { [weak self] in self?.press($0) }
    terminal.onResize = { [weak self] in self?.draw() }
    terminal.onEnd = { [weak self] in self?.onQuit() }
    terminal.start()
    draw()
    // Seconds pass on the screen while a code cannot be sent again.
    ticking = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil {  // Fails when it is over.
        guard let self else { return }
        if case .signIn = stack.top?.screen { draw() }
      }
    }
  }

  func tearDown() {
    ticking?.cancel()
    terminal.stop()
  }

  func show(_ screen: Screen) {
    let (transition, dismissed) = stack.show(screen)
    if transition != .stay {
      screen.viewModel.onChange = { [weak self] in self?.draw() }
      faces[ObjectIdentifier(screen.viewModel)] = ScreenFace()
    }
    if let dismissed { forget(dismissed) }
    dismissed?.close()
    draw()
  }

  func close(_ viewModel: any ViewModel) {
    guard stack.close(viewModel) else { return }
    forget(viewModel)
    draw()
  }

  func tell(_ text: String) {
    if messages.last != text { messages.append(text) }
    draw()
  }

  private func forget(_ viewModel: any ViewModel) {
    viewModel.onChange = {}
    faces[ObjectIdentifier(viewModel)] = nil
  }

  /// Whether letters are text where the reader is.
  private var isTyping: Bool {
    guard let top = stack.top else { return false }
    return top.screen.isTyping
      || faces[ObjectIdentifier(top.screen.viewModel)]?.isSearching == true
  }

  // MARK: Drawing

  private func draw() {
    // Of changes that come together the reader sees the last.
    guard !isDrawing else { return }
    isDrawing = true
    Task {
      isDrawing = false
      drawNow()
    }
  }

  private func drawNow() {
    let size = terminal.size
    let painter = ScreenPainter(columns: size.columns, rows: size.rows)
    let answer = Self.answer(isTyping).label
    let message = messages.first.map { Notice(text: $0, more: messages.count - 1, answer: answer) }
    guard let top = stack.top else {
      return terminal.draw(
        painter.frame(
          Drawing(title: "Bookshop", help: "^C quit"), isModal: false, message: message))
    }
    let key = ObjectIdentifier(top.screen.viewModel)
    var face = faces[key] ?? ScreenFace()
    // All that stand on a modal screen stand in its box.
    let isModal = stack.entries.contains { $0.transition == .modal }
    let drawing = painter.drawing(
      top.screen, &face, isModal: isModal, painter.bodyRows(message))
    faces[key] = face
    terminal.draw(painter.frame(drawing, isModal: isModal, message: message))
  }

  // MARK: Keys

  /// What takes a message away: where letters are text, no letter.
  private static func answer(_ isTyping: Bool) -> (key: Key, label: String) {
    isTyping ? (.escape, "Esc") : (.character("x"), "x")
  }

  private func press(_ key: Key) {
    switch key {
    case .focus: return onReturn()
    case .control("c"): return onQuit()
    case .control("l"): return onLink("bookshop://book-of-the-month")
    default: break
    }
    guard let top = stack.top else { return }
    let id = ObjectIdentifier(top.screen.viewModel)
    var face = faces[id] ?? ScreenFace()
    if !messages.isEmpty, key == Self.answer(isTyping).key {
      messages.removeFirst()
    } else {
      let rows = max(1, terminal.size.rows - 3)
      let action = top.screen.press(key, &face, rows)
      if faces[id] != nil { faces[id] = face }
      switch action {
      case .none: break
      case .quit: onQuit()
      case .work(let work): Task { await work() }
      }
    }
    draw()
  }
}
