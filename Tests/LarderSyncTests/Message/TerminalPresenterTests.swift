import Foundation
import LarderTesting
import Testing

@testable import LarderSync

@Suite(.timeLimit(.minutes(20))) struct TerminalPresenterTests {
  private let input = Pipe()
  private let output = Pipe()

  private var presenter: TerminalPresenter {
    TerminalPresenter(
      input: input.fileHandleForReading.fileDescriptor,
      output: output.fileHandleForWriting.fileDescriptor)
  }

  private func type(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// What was written up to now; waits for the first of it.
  private func shown() async -> String { await available(in: output) }

  /// What can be read now; waits for the first of it, on a thread that may.
  private func available(in pipe: Pipe) async -> String {
    await withCheckedContinuation { continuation in
      let file = pipe.fileHandleForReading
      DispatchQueue.global().async {
        continuation.resume(returning: String(decoding: file.availableData, as: UTF8.self))
      }
    }
  }

  @Test("a message is shown with its answer, and a line answers it")
  func showing() async throws {
    let presenter = presenter
    let task = Task { await presenter.showMessage("The server is away.") }
    #expect(await shown() == "The server is away.\n[OK] ")

    try type("\n")
    await task.value
  }

  @Test("messages are shown one after the other, and each takes one line")
  func serial() async throws {
    let presenter = presenter
    try type("yes\nyes\nmine")
    await presenter.showMessage("first")
    await presenter.present(Message("second", answer: "Enter"))

    #expect(await shown() == "first\n[OK] second\n[Enter] ")
    #expect(await available(in: input) == "mine")
  }

  @Test("a message whose task is cancelled takes no line")
  func cancelling() async throws {
    let presenter = presenter
    let task = Task { await presenter.showMessage("first") }
    _ = await shown()

    task.cancel()
    await task.value

    try type("a line\n")
    #expect(await available(in: input) == "a line\n")
  }

  @Test("where nothing can be read any more a message is answered at once")
  func ended() async throws {
    try input.fileHandleForWriting.close()

    await presenter.showMessage("first")

    #expect(await shown() == "first\n[OK] ")
  }

  @Test("what would steer the terminal is not sent to it")
  func steering() {
    #expect(
      TerminalPresenter.printable("a\u{1B}[2Jb\u{9B}1mc\rd\u{7F}\n\u{00}é漢")
        == "a\u{FFFD}[2Jb\u{FFFD}1mc\u{FFFD}d\u{FFFD}\n\u{FFFD}é漢")
  }
}
