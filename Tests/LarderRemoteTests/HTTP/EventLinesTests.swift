@testable import LarderRemote
import LarderTestKit
import Testing

@Suite struct EventLinesTests {
  private let text = """
    \u{FEFF}: hello

    event: changed
    data: {"scope": "a"}

    id: 7\r
    event:changed\r
    data: one\r
    data:  two\r
    \r
    event: other

    retry: 10\rdata\r\rdata: last

    data: unfinished
    """

  private let expected: [EventLines.Event] = [
    .init(name: "changed", data: "{\"scope\": \"a\"}"), .init(name: "changed", data: "one\n two"),
    .init(name: "", data: ""), .init(name: "", data: "last"),
  ]

  @Test("lines end in three ways; comments and unknown fields say nothing")
  func whole() throws {
    var lines = EventLines()
    #expect(try lines.take(text.utf8) == expected)
  }

  @Test("where the bytes are cut changes nothing")
  func pieces() throws {
    var random = RandomSource()
    let bytes = Array(text.utf8)
    for _ in 0..<repetitions(200) {
      var lines = EventLines()
      var events: [EventLines.Event] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(random.int(1..<12))
        rest = rest.dropFirst(piece.count)
        events += try lines.take(piece)
      }
      #expect(events == expected, "\(random.hint)")
    }
  }

  @Test(
    "a line without end, and an event of many lines, are refused", arguments: ["x", "data: y\n"])
  func endless(piece: String) {
    var lines = EventLines(maximumByteCount: 1000)
    #expect(throws: RemoteError.self) {
      for _ in 0..<2000 { _ = try lines.take(piece.utf8) }
    }
  }
}
