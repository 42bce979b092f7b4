internal import Dispatch
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The terminal that the program runs in: raw keys in, whole frames out. What it was is restored by
/// ``stop()``.
@MainActor final class Terminal {
  private var before = termios()
  private var sources: [any DispatchSourceProtocol] = []
  private var parser = KeyParser()
  private var lone: Task<Void, Never>?
  private var drawn: [Line] = []
  private var isRunning = false
  var onKey: (Key) -> Void = { _ in }
  var onResize: () -> Void = {}
  /// Told when the terminal is gone, or somebody asks the program to end.
  var onEnd: () -> Void = {}

  static var isAvailable: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  func start() {
    tcgetattr(STDIN_FILENO, &before)
    var raw = before
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    isRunning = true
    // The other screen, no cursor, no wrapping of long lines, and word of when it is looked at.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?1004h\u{1B}[2J")
    let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .main)
    input.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.read() } }
    listen(input)
    listen(to: SIGWINCH) { [weak self] in
      self?.drawn = []
      self?.onResize()
    }
    for signal in [SIGTERM, SIGHUP, SIGINT] { listen(to: signal) { [weak self] in self?.onEnd() } }
  }

  func stop() {
    guard isRunning else { return }
    isRunning = false
    for source in sources { source.cancel() }
    write("\u{1B}[?1004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
  }

  /// Columns and rows; what a terminal that does not say has had since 1978.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows a frame: writes the rows that differ from the one before.
  func draw(_ lines: [Line]) {
    guard isRunning else { return }
    var text = drawn.isEmpty ? "\u{1B}[2J" : ""
    for (row, line) in lines.enumerated() where row >= drawn.count || drawn[row] != line {
      // Emptied first: behind a full row the cursor stands on its last letter.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line.escaped
    }
    drawn = lines
    write(text)
  }

  private func listen(to signal: Int32, _ body: @escaping @MainActor () -> Void) {
    // Otherwise the signal does what it always did as well.
    Foundation.signal(signal, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: signal, queue: .main)
    source.setEventHandler { MainActor.assumeIsolated { body() } }
    listen(source)
  }

  private func listen(_ source: any DispatchSourceProtocol) {
    sources.append(source)
    source.resume()
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = Foundation.read(STDIN_FILENO, &bytes, bytes.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    guard count > 0 else {
      for source in sources { source.cancel() }
      return onEnd()
    }
    lone?.cancel()
    for key in parser.feed(bytes.prefix(count)) { onKey(key) }
    guard parser.isWaiting else { return }
    // The escape key sends what arrows begin with. Nobody types that fast.
    lone = Task { [weak self] in
      try? await Task.sleep(for: .milliseconds(50))  // Fails when more has come.
      guard let self, !Task.isCancelled else { return }
      for key in parser.flush() { onKey(key) }
    }
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // A terminal that is gone shows nothing; reading from it will tell.
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }
}
