import Dispatch
import Foundation

/// Python's own `http.server`, on a port that was free.
final class PythonServer {
  let folder: URL
  private var process: Process?
  private let hasEnded = DispatchSemaphore(value: 0)
  private(set) var port = 0

  /// - Parameter slow: Whether it takes an hour for an answer.
  init(slow: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "bookshop-server-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try start(slow: slow)
  }

  deinit {
    stop()
    // A folder of the system's temporary ones.
    try? FileManager.default.removeItem(at: folder)
  }

  var catalogue: URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)/books.json") else {
      preconditionFailure("a port is no part of an address")
    }
    return url
  }

  private static let program = """
    import errno, http.server, random, sys, time
    class Handler(http.server.SimpleHTTPRequestHandler):
      def do_GET(self):
        if sys.argv[2] == "slow": time.sleep(3600)
        super().do_GET()
      def log_message(self, *arguments): pass
    def server():
      if port := int(sys.argv[1]): return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
      while True:
        # Below those that systems give to outgoing connections: one of these could take the port of a server
        # that is stopped for a while.
        try: return http.server.ThreadingHTTPServer(("127.0.0.1", random.randrange(20_000, 32_768)), Handler)
        except OSError as error:
          if error.errno != errno.EADDRINUSE: raise
    server = server()
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """

  /// Starts it, on the port that it had before, if it had one.
  func start(slow: Bool = false) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.program, "\(port)", slow ? "slow" : "quick"]
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // Waiting for it with Foundation's own function turns the run loop, which is another's here.
    process.terminationHandler = { [hasEnded] _ in hasEnded.signal() }
    try process.run()
    self.process = process
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let piece = output.fileHandleForReading.availableData
      guard !piece.isEmpty else { throw Refused() }
      line += piece
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
    guard let port = Int(text) else { throw Refused() }
    self.port = port
  }

  func stop() {
    guard let process else { return }
    // A thread of the dispatcher blocks gentler signals, and the programs that it starts do too.
    kill(process.processIdentifier, SIGKILL)
    hasEnded.wait()
    self.process = nil
  }

  /// - Parameter age: How many seconds ago the file was written; files are told apart by seconds.
  func serve(_ text: String, age: Double = 0) throws {
    let file = folder.appending(path: "books.json")
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)],
      ofItemAtPath: file.path(percentEncoded: false))
  }
}
