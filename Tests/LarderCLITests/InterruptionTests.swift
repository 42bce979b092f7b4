import Foundation
import Testing

#if os(Linux)
  @Suite("larder, told to end while it waits for somebody else", .timeLimit(.minutes(20)))
  struct InterruptionTests {
    let larder: LarderProgram

    init() throws { larder = try LarderProgram() }

    /// A command that waits from its beginning, and gets a signal once it handles it.
    private func outcome(of arguments: [String], by signal: Int32) throws -> LarderProgram.Outcome {
      let process = try start(arguments)
      #expect(process.waitUntilHandling(SIGTERM))
      kill(process.process.processIdentifier, signal)
      return try process.waitOrKill()
    }

    private func start(_ arguments: [String]) throws -> Running {
      try larder.start(
        arguments + ["--store", larder.store], environment: ["LARDER_PATIENCE": "2"])
    }

    private func pipe() throws -> String {
      let pipe = larder.folder.appending(path: "pipe").path(percentEncoded: false)
      try #require(mkfifo(pipe, 0o600) == 0)
      return pipe
    }

    @Test(
      "the first signal ends an import from standard input that is silent",
      arguments: [
        SIGINT, SIGTERM, SIGHUP,
      ])
    func silentInput(signal: Int32) throws {
      let outcome = try outcome(of: ["import", "-", "--into", "c", "--key", "id"], by: signal)

      #expect(outcome.status == -signal && outcome.output == "", "\(outcome)")
    }

    @Test("a signal that the program was begun to ignore is ignored")
    func ignored() throws {
      let pipe = try pipe()
      let errors = try larder.errors(
        ofScript: """
          trap '' HUP INT
          "$0" import "\(pipe)" --into c --key id --store "$1" > /dev/null &
          exec 3> "\(pipe)"
          kill -HUP $!
          kill -INT $!
          echo '{"id": 1}' >&3
          exec 3>&-
          wait $!
          echo "status $?" >&2
          """)

      #expect(errors.hasSuffix("status 0\n"), "\(errors)")
    }

    @Test("the second signal of an export leaves no unfinished file behind")
    func unfinished() throws {
      let lines = (0..<200).map { "{\"id\": \($0)}\n" }
      let file = try larder.file("c.ndjson", lines.joined())
      #expect(try larder.runOnStore("import", file, "--into", "c", "--key", "id").status == 0)
      let target = larder.folder.appending(path: "out", directoryHint: .isDirectory)
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(
          atPath: target.path(percentEncoded: false))
      }
      let path = target.appending(path: "c.json").path(percentEncoded: false)

      // Stopped as soon as its file is there, it takes both signals when it goes on.
      for _ in 0..<20 {
        let process = try start(["export", "c", "--output", path])
        let id = process.process.processIdentifier
        while process.process.isRunning, try names().isEmpty { usleep(100) }
        kill(id, SIGSTOP)
        kill(id, SIGTERM)
        kill(id, SIGHUP)
        kill(id, SIGCONT)
        _ = try process.waitOrKill()
        let left = try names()
        #expect(left.isEmpty || left == ["c.json"])
        for name in left { try FileManager.default.removeItem(at: target.appending(path: name)) }
      }
    }

    @Test("the first signal ends an import from a pipe that nobody writes to")
    func noWriter() throws {
      let outcome = try outcome(
        of: ["import", try pipe(), "--into", "c", "--key", "id"], by: SIGTERM)

      #expect(outcome.status == -SIGTERM && outcome.output == "", "\(outcome)")
    }

    @Test("the first signal ends an export to a pipe that nobody opens")
    func noReader() throws {
      let books = LarderProgram.fixture("books.ndjson")
      #expect(try larder.runOnStore("import", books, "--into", "b", "--key", "isbn").status == 0)

      let outcome = try outcome(of: ["export", "b", "--output", try pipe()], by: SIGTERM)

      #expect(outcome.status == -SIGTERM && outcome.output == "", "\(outcome)")
      #expect(try larder.runOnStore("check").status == 0)
    }

    @Test("the first signal ends an export to a pipe that is full and is not read")
    func fullPipe() throws {
      let padding = String(repeating: "lorem ipsum ", count: 5_000)
      let lines = (0..<40).map { "{\"id\": \($0), \"text\": \"\(padding)\"}\n" }
      let file = try larder.file("c.ndjson", lines.joined())
      #expect(try larder.runOnStore("import", file, "--into", "c", "--key", "id").status == 0)
      let pipe = try pipe()
      let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      try #require(reader >= 0)
      defer { close(reader) }
      func waitingByteCount() -> Int32 {
        var count: Int32 = 0
        return ioctl(reader, UInt(FIONREAD), &count) == 0 ? count : -1
      }

      let process = try start(["export", "c", "--output", pipe])
      // It writes on until no byte more has room, and no reader makes any.
      while process.process.isRunning, waitingByteCount() == 0 { usleep(1_000) }
      process.process.terminate()
      let outcome = try process.waitOrKill()

      #expect(outcome.status == -SIGTERM && waitingByteCount() > 0, "\(outcome)")
    }
  }
#endif
