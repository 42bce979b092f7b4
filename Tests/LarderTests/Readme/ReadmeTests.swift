import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct ReadmeTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  private var root: URL { tests.appending(path: "../../..").standardizedFileURL }

  private func readme() throws -> String {
    try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
  }

  private func isThere(_ path: some StringProtocol) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: String(path)).path)
  }

  @Test("the program in the README is the one that is tested")
  func isTheSame() throws {
    let readme = try readme()
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
        == [Book(id: 3, title: "Sult", genres: ["novel"])])
    try verifyAndClose(store)
  }

  @Test("the files, pictures and commands that the README names are there")
  func names() throws {
    let readme = try readme()
    let links = readme.matches(of: /\]\((?!http)([^)#]+)/).map(\.output.1)
    let pictures = readme.matches(of: /(?:src|srcset)="([^"]+)"/).map(\.output.1)
    let commands = readme.matches(of: /(?:^|`)(Tools\/[a-z-]+)/.anchorsMatchLineEndings())
      .map(\.output.1)

    #expect(links.count > 10 && pictures.count > 1 && commands.count > 3)
    #expect((links + pictures + commands).filter { !isThere($0) } == [])
  }

  @Test("the README is short")
  func length() throws {
    #expect(try readme().split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
  }
}
