internal import LarderImport

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Standard output and standard error.
enum Console {
  /// The reader of standard output has gone.
  struct OutputClosed: Error {}

  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Writes a line to standard output.
  ///
  /// - Throws: ``OutputClosed``; ``Failure`` when it cannot be written for another reason.
  static func print(_ line: String) throws {
    let code = write(line + "\n", to: STDOUT_FILENO)
    if code == EPIPE { throw OutputClosed() }
    if code != 0 { throw Failure("standard output: \(String(cString: strerror(code)))") }
  }

  /// Prints what the command's verdict does not depend on: a reader of standard output that has seen enough ends
  /// the printing alone.
  ///
  /// - Throws: What `body` throws, apart from ``OutputClosed``.
  static func whileRead(_ body: () throws -> Void) throws {
    do { try body() } catch is OutputClosed {}
  }

  /// Writes a sentence to standard error.
  static func complain(_ sentence: String) { note("larder: \(sentence)\n") }

  /// Writes to standard error, as it is.
  static func note(_ text: String) {
    // Where standard error is closed there is nobody left to be told.
    _ = write(text, to: STDERR_FILENO)
  }

  /// A number for standard output, with thousands separators where people read it.
  static func number(_ number: Int) -> String {
    outputIsTerminal ? grouped(number) : "\(number)"
  }

  static func grouped(_ number: Int) -> String {
    var digits = "\(number.magnitude)"
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }

  /// Seconds with two digits, such as `1.50`.
  static func seconds(_ duration: Duration) -> String {
    let hundredths =
      duration.components.seconds * 100
      + duration.components.attoseconds / 10_000_000_000_000_000
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }

  /// Writes everything; returns the system's error code, or 0.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { SystemWrite.write(UnsafeRawBufferPointer($0), to: descriptor) }
  }
}
