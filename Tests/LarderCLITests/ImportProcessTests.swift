import Foundation
import Testing

@Suite("larder import, as a process", .timeLimit(.minutes(20)))
struct ImportProcessTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  /// About 30 MB.
  private func longText() -> String {
    let padding = String(repeating: "lorem ipsum ", count: 20)
    var text = ""
    for number in 0..<100_000 {
      text += "{\"id\": \(number), \"name\": \"Number \(number)\", \"text\": \"\(padding)\", "
      text += "\"tags\": [\"a\", \"b\"]}\n"
    }
    return text
  }

  private func longFile() throws -> String { try larder.file("long.ndjson", longText()) }

  #if os(Linux)
    @Test("memory does not grow with the file")
    func memory() throws {
      let file = try longFile()
      let process = try larder.start(
        ["import", file, "--into", "c", "--key", "id", "--store", larder.store])
      try process.input.close()
      var peak = 0
      while process.process.isRunning {
        peak = max(peak, process.anonymousByteCount() ?? 0)
        usleep(2_000)
      }

      let outcome = try process.wait()

      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output.contains("100000 inserted"))
      #expect(peak < 60 << 20, "\(peak >> 20) MB")
    }
  #endif

  @Test("an interruption stops between two batches and says how much is saved")
  func interruption() throws {
    let outcome = try larder.interruptedImport(of: Array(longText().utf8), from: "long.ndjson")

    #expect(outcome.status == 1 && outcome.output == "")
    // It may have said before that it waits for another process.
    #expect(outcome.errors.contains("larder: the import was stopped; "), "\(outcome.errors)")
    #expect(try larder.runOnStore("check").status == 0)
  }

  /// - Parameter patience: In seconds. Without any the process is ended, unless the command is faster.
  @Test(
    "an export that is told to terminate leaves nothing beside its file", arguments: ["600", "0"])
  func terminatedExport(patience: String) throws {
    _ = try larder.runOnStore("import", try longFile(), "--into", "c", "--key", "id")
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: larder.folder.path(percentEncoded: false))
    }
    let before = try names()
    let target = larder.folder.appending(path: "out.ndjson").path(percentEncoded: false)

    let export = try larder.start(
      ["export", "c", "--output", target, "--store", larder.store],
      environment: ["LARDER_PATIENCE": patience])
    try export.input.close()
    while export.process.isRunning, try names().count == before.count { usleep(1_000) }
    export.process.terminate()
    let outcome = try export.wait()

    // It may have been done already.
    #expect(
      patience == "0" || outcome.status == 0 || outcome.errors.contains("the export was stopped"))
    #expect(try Set(names()).subtracting(before).subtracting(["out.ndjson"]).isEmpty)
  }

  @Test("a reader that goes away ends the program quietly")
  func closedPipe() throws {
    _ = try larder.runOnStore(
      "import", LarderProgram.fixture("books.ndjson"), "--into", "b", "--key", "isbn")
    let text = try larder.errors(
      ofScript: "(sleep 0.3; \"$0\" stat --store \"$1\" && echo fine >&2) | true")

    #expect(text == "fine\n")
  }
}
