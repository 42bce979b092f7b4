package import Foundation

/// A running `LarderTestProcess`, or a tool; killed when the test lets go of it.
package final class OtherProcess {
  package let id: pid_t
  private let input: Int32
  private let output: Int32
  private var unread: [UInt8] = []
  private var isEnded = false

  package struct Failed: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  /// Starts a command of `LarderTestProcess`.
  package convenience init(_ arguments: String...) throws {
    try self.init(running: [Self.executable()] + arguments)
  }

  /// Starts a program with `PATH` as it is.
  package init(running arguments: [String]) throws {
    // Not inherited: another child would keep a pipe open that we wait to see the end of. The
    // lock keeps others from being started before that is said of the pipes.
    Self.starting.lock()
    defer { Self.starting.unlock() }
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw Failed(description: "pipe failed with \(errno)")
    }
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer {
      close(toChild[0])
      close(fromChild[1])
    }
    input = toChild[1]
    output = fromChild[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var id: pid_t = 0
    let status = posix_spawnp(&id, arguments[0], &actions, nil, &words, environ)
    self.id = id
    guard status == 0 else {
      isEnded = true
      throw Failed(
        description: "\(arguments[0]) cannot be run: \(String(cString: strerror(status)))")
    }
  }

  private static let starting = NSLock()

  deinit {
    kill()
    close(input)
    close(output)
  }

  /// The program of the tests with several processes.
  package static func executable() throws -> String {
    try BuiltProgram.path("LarderTestProcess")
  }

  // MARK: Talking

  /// The next line it printed; nil when it ended, or said nothing for so long.
  package func line(timeoutSeconds: Double = 600) -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, Int32(timeoutSeconds * 1000)) == 1 else { return nil }
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = read(output, &buffer, buffer.count)
      guard count > 0 else { return nil }
      unread += buffer[..<count]
    }
  }

  /// Every line that it prints until it ends.
  package func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// Waits for a line that begins with `word`, and gives the rest of it.
  package func expect(_ word: String) throws -> String {
    guard let line = line() else {
      throw Failed(description: "expected `\(word)`, and it ended or was silent")
    }
    guard line.hasPrefix(word) else {
      throw Failed(description: "expected `\(word)`, and it said: \(line)")
    }
    return String(line.dropFirst(word.count + 1))
  }

  /// Lets it go on where it waits for a line.
  package func goOn() { say("") }

  /// Gives it a line.
  package func say(_ line: String) {
    // One that has died is found out by what it does not say.
    signal(SIGPIPE, SIG_IGN)
    let bytes = Array("\(line)\n".utf8)
    _ = write(input, bytes, bytes.count)
  }

  // MARK: Ending

  package func kill() {
    guard !isEnded else { return }
    Foundation.kill(id, SIGKILL)
    _ = wait()
  }

  /// Waits for its end: its exit status, or minus the signal that killed it.
  package func wait() -> Int32 {
    guard !isEnded else { return 0 }
    isEnded = true
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }

  /// Ends its input, where it waits for its parent, and gives what it says then.
  package func finish() -> [String] {
    dup2(Self.nothing, input)
    let rest = lines()
    _ = wait()
    return rest
  }

  private static let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)

  /// Runs a tool to its end.
  package static func run(_ arguments: String...) throws -> (status: Int32, lines: [String]) {
    let process = try OtherProcess(running: arguments)
    let lines = process.lines()
    return (process.wait(), lines)
  }
}
