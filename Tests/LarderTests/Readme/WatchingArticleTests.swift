import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct WatchingArticleTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("the example of several queries in the article on watching is the one that is tested")
  func isTested() throws {
    let root = tests.appending(path: "../../..").standardizedFileURL
    let article = try String(
      contentsOf: root.appending(path: "Sources/Larder/Documentation.docc/Watching.md"),
      encoding: .utf8)
    let source = try String(
      contentsOf: tests.appending(path: "WatchingExample.swift"), encoding: .utf8)
    let tested = Set(source.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } })
    let shown = article.components(separatedBy: "```").filter { $0.contains("let overview") }
      .flatMap { $0.split(separator: "\n").dropFirst() }

    #expect(shown.count == 7)
    for line in shown {
      let line = line.replacing("{ show", with: "{ try show")
      #expect(tested.contains(line.trimmingPrefix { $0 == " " }), "\(line)")
    }
  }

  @Test("it shows what has become of two collections")
  func runs() async throws {
    struct Seen: Error {}
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let purchases = store.repository(of: Purchase.self)
      try await contacts.save([Contact(id: "a", name: "Astrid"), Contact(id: "b", name: "Bo")])
      var shown: [[String]] = []

      await #expect(throws: Seen.self) {
        try await watchTogether(store) { lines in
          shown.append(lines)
          switch shown.count {
          case 1: try purchases.save(Purchase(id: 1, contactID: "b"))
          case 2: try contacts.delete(key: "a")
          default: throw Seen()
          }
        }
      }

      #expect(shown == [["Astrid: 0", "Bo: 0"], ["Astrid: 0", "Bo: 1"], ["Bo: 1"]])
    }
  }
}
