import Foundation
import LarderImport
import Testing

@Suite("CSV as it was read before")
struct CSVRecordedTests {
  /// A text and what came of it.
  private struct Recording: Decodable {
    var bytes: Data
    var delimiter: String
    /// In the order of the properties of ``CSVLimits``.
    var limits: [Int]
    /// Where each field begins, whether it was in quotes (`q`) or plain (`p`), and what it holds.
    var rows: [[String]]
    var error: String?
  }

  @Test("every recorded text gives the same rows and the same error, in any pieces")
  func recordings() throws {
    let lines = try Data(contentsOf: Fixtures.folder.appending(path: "Recorded/csv.ndjson"))
      .split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 400)
    for line in lines {
      let recording = try JSONDecoder().decode(Recording.self, from: line)
      let delimiter = try #require(CSVDelimiter(Character(recording.delimiter)))
      var limits = CSVLimits()
      (limits.fieldByteCount, limits.rowByteCount, limits.columnCount) = (
        recording.limits[0], recording.limits[1], recording.limits[2]
      )
      for pieces in [[65_536], [1], [5, 2, 9]] {
        let outcome = CSVProbe.outcome(
          Array(recording.bytes), delimiter: delimiter, pieces: pieces, limits: limits)

        let rows = outcome.rows.map { row in
          row.map { Array("\($0.position) \($0.isQuoted ? "q" : "p") \($0.text)".utf8) }
        }
        let comment = Comment(rawValue: String(decoding: line, as: UTF8.self))
        #expect(outcome.error?.description == recording.error, comment)
        #expect(rows == recording.rows.map { $0.map { Array($0.utf8) } }, comment)
      }
    }
  }
}
