import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct QueriesArticleTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("every line of Swift in the article on queries is one that is tested")
  func isTested() throws {
    let root = tests.appending(path: "../../..").standardizedFileURL
    let article = try String(
      contentsOf: root.appending(path: "Sources/Larder/Documentation.docc/Queries.md"),
      encoding: .utf8)
    let source = try String(
      contentsOf: tests.appending(path: "QueriesExample.swift"), encoding: .utf8)
    let tested = Set(source.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } })
    let shown = article.components(separatedBy: "```").filter { $0.hasPrefix("swift\n") }
      .flatMap { $0.split(separator: "\n").dropFirst() }

    #expect(shown.count > 30)
    for line in shown {
      #expect(tested.contains(line.trimmingPrefix { $0 == " " }), "\(line)")
    }
  }

  @Test("the lines of the article on queries do what it says")
  func runs() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let purchases = store.repository(of: Purchase.self)
      try await contacts.save([
        Contact(id: "a", name: "Astrid", city: "Oslo", order: 3, tags: ["vip"], note: "x"),
        Contact(
          id: "b", name: "Bj\u{F8}rn", city: "Oslo", order: 1, isActive: false,
          geo: Geo(lat: 60, lon: 10)),
        Contact(id: "c", name: "Bergen", city: "Bergen", order: 7, tags: ["a", "b", "c"]),
      ])
      try await purchases.save([
        Purchase(id: 1, contactID: "b", amount: 5), Purchase(id: 2, contactID: "x", amount: 7),
      ])

      let found = try conditions().map { try contacts.keys(of: $0).joined() }
      #expect(
        found == ["ab", "ab", "ab", "b", "a", "a", "a", "c", "ab", "abc", "bac", "ab"])
      #expect(conditions()[0] == conditions()[11])
      #expect(try pages(contacts) == ["Astrid", "Bergen", "Bj\u{F8}rn"])
      #expect(
        try aggregates(contacts)
          == #"4 0.0 false ["Bergen", "Oslo"] ["Bergen: 1", "Oslo: 2"] ["a", "b"]"#)
      var printed: [String] = []
      #expect(
        try together(contacts, purchases) { printed.append("\($0) \($1)") }
          == #"[0, 1] ["Bergen", "Oslo"]"#)
      #expect(printed == ["5 Bj\u{F8}rn", "7 nobody"])
      var names: [String] = []
      var batches: [Int] = []
      let name = try await oneByOne(contacts, "b") {
        names.append($0)
      } send: {
        batches.append($0.count)
      }
      #expect(name == "Bj\u{F8}rn")
      #expect(names == ["Astrid"])
      #expect(batches == [2])
      try await cascade("b", store)
      #expect(try purchases.keys() == [2])
    }
  }
}
