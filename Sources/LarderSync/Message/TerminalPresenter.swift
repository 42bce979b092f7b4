internal import Dispatch
internal import LarderLMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Shows messages in a terminal, one at a time, and takes a line for the answer.
///
/// ```
/// The server cannot be reached.
/// [OK]
/// ```
/// Control characters of a message are not sent to the terminal. Where nothing can be read any more,
/// a message is answered as soon as it is shown.
public final class TerminalPresenter: MessagePresenter {
  private let input: Int32
  private let output: Int32
  private let line = DispatchQueue(label: "larder.messages")

  /// - Parameters:
  ///   - input: The descriptor that lines are read from; 0 is standard input.
  ///   - output: The descriptor that messages are written to; 1 is standard output.
  public init(input: Int32 = 0, output: Int32 = 1) {
    self.input = input
    self.output = output
  }

  public func present(_ message: Message) async {
    let isOver = Locked(false)
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        line.async { [self] in
          if !isOver.withLock({ $0 }) {
            write(Self.printable(message.text) + "\n[" + Self.printable(message.answer) + "] ")
            waitForLine { isOver.withLock { $0 } }
          }
          continuation.resume()
        }
      }
    } onCancel: {
      isOver.withLock { $0 = true }
    }
  }

  /// Reads up to the end of a line, and no byte more, which would be somebody else's.
  private func waitForLine(isOver: () -> Bool) {
    while !isOver() {
      var waiting = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      let count = poll(&waiting, 1, 100)
      if count == 0 || (count < 0 && errno == EINTR) { continue }
      var byte: UInt8 = 0
      guard count > 0, read(input, &byte, 1) == 1 else { return }
      if byte == UInt8(ascii: "\n") { return }
    }
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(output, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // A terminal that is gone shows nothing; the answer is not waited for either.
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Without what would steer a terminal: texts may come from a server.
  static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          switch scalar.value {
          case 0x0A: scalar
          case 0..<0x20, 0x7F..<0xA0: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}

private func systemWrite(_ output: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(output, bytes, count)
}
