import Foundation

/// Another process of a campaign, spoken to in lines; killed when it is let go of.
final class ChildProcess {
  let id: pid_t
  private var input: Int32
  private let output: Int32
  private var unread: [UInt8] = []
  private var isEnded = false

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a program with these variables besides those of this process.
  init(_ arguments: [String], _ environment: [String: String] = [:]) throws {
    // Not inherited by other children, which would keep open a pipe that we wait to see the end of.
    // The lock keeps others from being started before that is said of the pipes.
    Self.starting.lock()
    defer { Self.starting.unlock() }
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw Failed(description: "pipe: \(String(cString: strerror(errno)))")
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
    let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + settings { free(word) } }
    var id: pid_t = 0
    let status = posix_spawnp(&id, arguments[0], &actions, nil, &words, &settings)
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
    closeInput()
    close(output)
  }

  // MARK: Talking

  /// The next line it printed; nil when it ended, or said nothing for so long.
  func line(timeoutSeconds: Double = 60) -> String? {
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
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  /// Waits for a line that begins with `word`, and gives the rest of it.
  func expect(_ word: String) throws -> String {
    guard let line = line() else {
      throw Failed(description: "expected `\(word)` of process \(id), which ended or was silent")
    }
    guard line.hasPrefix(word) else {
      throw Failed(description: "expected `\(word)` of process \(id), which said: \(line)")
    }
    return String(line.dropFirst(word.count + 1))
  }

  /// Says a line to it.
  func say(_ line: String = "") {
    let bytes = Array((line + "\n").utf8)
    _ = write(input, bytes, bytes.count)
  }

  /// Lets it see the end of what it is told.
  func closeInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  // MARK: Ending

  /// Whether it has not ended by itself.
  var isAlive: Bool {
    guard !isEnded else { return false }
    var info = siginfo_t()
    // Leaves one that has ended to be waited for.
    return waitid(P_PID, id_t(id), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
  }

  func kill() {
    guard !isEnded else { return }
    Foundation.kill(id, SIGKILL)
    _ = wait()
  }

  /// Waits a while for its end, and kills it where it does not end: its exit status, or minus the
  /// signal that ended it; nil where it had to be killed.
  func end(timeoutSeconds: Double = 5) -> Int32? {
    guard !isEnded else { return 0 }
    var status = siginfo_t()
    let deadline = ContinuousClock.now + .seconds(timeoutSeconds)
    while ContinuousClock.now < deadline {
      // Only looks, so that there is something left to wait for.
      status = siginfo_t()
      if waitid(P_PID, id_t(id), &status, WEXITED | WNOHANG | WNOWAIT) == 0, status.si_signo != 0 {
        return wait()
      }
      usleep(2000)
    }
    kill()
    return nil
  }

  /// Waits for its end: its exit status, or minus the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    guard !isEnded else { return 0 }
    isEnded = true
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }
}

extension CommandLine {
  /// The path of this program.
  static let executable: String = {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return link ?? CommandLine.arguments[0]  // Where there is no /proc.
  }()
}
