import Foundation
import LarderImport
import Testing

@Suite("JSON as it was read before")
struct JSONRecordedTests {
  /// A text and what came of it.
  private struct Recording: Decodable {
    var bytes: Data
    var shape: String
    /// In the order of the properties of ``JSONLimits``.
    var limits: [Int]
    var documents: Int
    /// For each document where it and its members' values begin.
    var positions: [String]
    var error: String?
  }

  private func limits(_ numbers: [Int]) -> JSONLimits {
    var limits = JSONLimits()
    (limits.depth, limits.stringByteCount, limits.memberCount) = (
      numbers[0], numbers[1], numbers[2]
    )
    (limits.numberByteCount, limits.lineByteCount) = (numbers[3], numbers[4])
    limits.documentByteCount = numbers[5]
    return limits
  }

  @Test("every recorded text gives the same documents and the same error, in any pieces")
  func recordings() throws {
    let lines = try Data(contentsOf: Fixtures.folder.appending(path: "Recorded/json.ndjson"))
      .split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 330)
    for line in lines {
      let recording = try JSONDecoder().decode(Recording.self, from: line)
      let limits = limits(recording.limits)
      for pieces in [[65_536], [1], [5, 2, 9]] {
        let bytes = Array(recording.bytes)
        guard let shape = JSONShape(rawValue: recording.shape) else {
          var error: ImportError?
          do throws(ImportError) {
            _ = try JSONProbe.value(bytes, pieces: pieces, limits: limits)
          } catch let refusal {
            error = refusal
          }
          #expect(
            error?.description.dropFirst("test".count) == recording.error?.dropFirst("t".count),
            "\(String(decoding: line, as: UTF8.self))")
          continue
        }

        let outcome = JSONProbe.outcome(
          bytes, shape, name: "t.json", pieces: pieces, limits: limits)

        let positions = outcome.documents.map { document in
          "\(document.position) "
            + document.members.map { "\($0.position)" }.joined(separator: " ")
        }
        let comment = Comment(rawValue: String(decoding: line, as: UTF8.self))
        #expect(outcome.error?.description == recording.error, comment)
        #expect(positions == recording.positions, comment)
      }
    }
  }
}
