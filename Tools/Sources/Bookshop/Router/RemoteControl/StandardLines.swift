internal import Foundation

/// Standard input and output as lines of JSON.
enum StandardLines {
  /// The lines of standard input, until its end. They are read by a thread of its own, as nothing
  /// else can wait for them without holding up the app.
  static func input() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() {
          if !line.allSatisfy(\.isWhitespace) { continuation.yield(line) }
        }
        continuation.finish()
      }
    }
  }

  static func write(_ event: RemoteEvent) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      // Foundation's own stream would hold lines back where nobody is at a terminal.
      try FileHandle.standardOutput.write(contentsOf: encoder.encode(event) + Data("\n".utf8))
    } catch {
      // Nobody listens any more, and the end of standard input says so too.
    }
  }
}
