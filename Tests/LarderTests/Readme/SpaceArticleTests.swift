import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct SpaceArticleTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("every line of Swift in the article on space is one that is tested")
  func isTested() throws {
    let root = tests.appending(path: "../../..").standardizedFileURL
    let article = try String(
      contentsOf: root.appending(path: "Sources/Larder/Documentation.docc/Space.md"),
      encoding: .utf8)
    let source = try String(
      contentsOf: tests.appending(path: "SpaceExample.swift"), encoding: .utf8)
    let tested = Set(source.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } })
    let shown = article.components(separatedBy: "```").filter { $0.hasPrefix("swift\n") }
      .flatMap { $0.split(separator: "\n").dropFirst() }

    #expect(shown.count > 15)
    for line in shown {
      #expect(tested.contains(line.trimmingPrefix { $0 == " " }), "\(line)")
    }
  }

  @Test("the lines of the article on space do what it says")
  func runs() async throws {
    let folder = TestFolder()
    let place = URL(filePath: folder.store)
    let backups = URL(filePath: folder.path)
    let store = try SpaceExample.open(place)
    let articles = store.repository(of: Article.self)
    let old = Date.now - 31 * 86_400
    try await articles.save((0..<40).map { Article(id: $0, fetchedAt: $0 < 30 ? old : .now) })
    // The save took a step already.
    let left = try articles.count()
    #expect(left < 40)

    #expect(try await SpaceExample.evict(store) == left - 10)
    #expect(try await SpaceExample.compact(store).byteCountAfter > 0)
    try await SpaceExample.backUp(store, to: backups)
    try await articles.eraseAllData()
    try store.close()

    #expect(try await SpaceExample.restore(from: backups, to: place) == 10)
    let again = try SpaceExample.open(place)
    #expect(try again.repository(of: Article.self).count() == 10)
    try verifyAndClose(again)
  }
}
