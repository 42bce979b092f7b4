import Foundation
import Larder

@main
struct Program {
  static let usage = """
    usage: notes                    the open notes
           notes all                all of them
           notes add TEXT           a new note
           notes done NUMBER        it is done
           notes delete NUMBER      it is gone
           notes find WORD          notes that contain it
           notes watch [COUNT]      the open notes, again after each change
    """

  static func main() async {
    do {
      try await run()
    } catch {
      stop("\(error)")
    }
  }

  static func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let folder =
      environment["NOTES_FOLDER"].map { URL(filePath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".notes")
    let notebook = try Notebook(at: folder)
    let arguments = CommandLine.arguments.dropFirst()
    let text = arguments.dropFirst().joined(separator: " ")

    switch (arguments.first, Int(text)) {
    case (nil, _): show(try notebook.open())
    case ("all", _): show(try notebook.all())
    case ("add", _) where !text.isEmpty: show([try notebook.add(text)])
    case ("find", _) where !text.isEmpty: show(try notebook.containing(text))
    case ("done", let number?): require(try notebook.finish(number), number)
    case ("delete", let number?): require(try notebook.delete(number), number)
    case ("watch", nil) where text.isEmpty: try await watch(notebook, count: .max)
    case ("watch", let count?) where count > 0: try await watch(notebook, count: count)
    default: stop(usage)
    }
  }

  /// Prints `count` results, the first one at once.
  static func watch(_ notebook: Notebook, count: Int) async throws {
    var remaining = count
    for try await open in notebook.notes.values(of: Note.open) {
      print("\(open.count) open: \(open.map(\.text).joined(separator: ", "))")
      fflush(nil)  // Into a pipe, print would wait until there is more.
      remaining -= 1
      if remaining == 0 { return }
    }
  }

  static func show(_ notes: [Note]) {
    for note in notes { print("\(note.id) [\(note.isDone ? "x" : " ")] \(note.text)") }
  }

  static func require(_ isFound: Bool, _ number: Int) {
    if !isFound { stop("there is no note \(number)") }
  }

  static func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(1)
  }
}
