import Foundation
import LarderTestKit
import Testing

@Suite("larder whose output nobody reads any more", .timeLimit(.minutes(20)))
struct UnreadOutputTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  private func importBooks() throws {
    let books = LarderProgram.fixture("books.ndjson")
    #expect(try larder.runOnStore("import", books, "--into", "b", "--key", "isbn").status == 0)
  }

  @Test("a check of a damaged store ends with 1, and of a sound one with 0")
  func check() throws {
    try importBooks()
    let sound = try larder.runUnread("check", "--store", larder.store)
    let path = URL(filePath: larder.store).appending(path: "data.mdb")
    var data = try Data(contentsOf: path)
    let title = try #require(data.range(of: Data("The Idle Barometer".utf8)))
    data[title.lowerBound] ^= 1
    try data.write(to: path)

    let damaged = try larder.runUnread("check", "--store", larder.store)

    #expect(sound.status == 0 && sound.errors == "")
    #expect(damaged.status == 1 && damaged.errors == "larder: the store has 1 problems\n")
  }

  @Test("a standard output that is closed is an error, and a standard input that is closed is one")
  func closedDescriptors() throws {
    try importBooks()
    let errors = try larder.errors(
      ofScript: """
        "$0" export b --store "$1" >&-
        echo "export $?" >&2
        "$0" count b --store "$1" >&-
        echo "count $?" >&2
        "$0" import - --into b --store "$1" <&-
        echo "import $?" >&2
        """)

    for line in ["export 1", "count 1", "import 1"] {
      #expect(errors.contains("\n\(line)\n"), "\(errors)")
    }
  }

  @Test("a sync that does not reach its server ends with 1 and says why")
  func sync() throws {
    try importBooks()
    let port = try SilentPort()

    let outcome = try larder.runUnread(
      "sync", "--remote", "\(port.url)", "--token", "t", "--account", "a", "--scope", "a",
      "--collection", "b", "--store", larder.store)

    #expect(outcome.status == 1 && outcome.errors.hasPrefix("larder: "), "\(outcome)")
  }

  @Test("a check of a sync server that breaks promises ends with 1")
  func syncCheck() throws {
    let port = try SilentPort()

    let outcome = try larder.runUnread(
      "sync-check", "\(port.url)", "--token", "t", "--scope", "a", "--clients", "2", "--rounds",
      "1", "--patience", "1")

    #expect(outcome.status == 1, "\(outcome)")
  }
}
