import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct ReadmeTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("the program in the README is the one that is tested")
  func isTheSame() throws {
    let root = tests.appending(path: "../../..").standardizedFileURL
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let source = try String(
      contentsOf: tests.appending(path: "ReadmeExample.swift"), encoding: .utf8)

    let parts = readme.components(separatedBy: "```")

    #expect(parts.first { $0.hasPrefix("swift\n") } == "swift\n" + source)
  }

  @Test("the program in the README does what its comments say")
  func runs() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }

    try await example(in: folder)

    let store = try Store(at: folder)
    #expect(
      try store.repository(of: Book.self).fetch(Book.all)
        == [Book(id: 2, title: "Peer Gynt"), Book(id: 3, title: "Sult", genres: ["novel"])])
    try verifyAndClose(store)
  }
}
