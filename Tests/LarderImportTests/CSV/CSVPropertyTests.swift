import LarderImport
import LarderTestKit
import Testing

@Suite("Random CSV")
struct CSVPropertyTests {
  /// A table as it should be read, and one of the ways to write it.
  struct Table {
    var rows: [[String]]
    var text: String
  }

  static let alphabet: [String] = [
    "a", "B", "7", " ", ",", ";", "\t", "\"", "\"\"", "\n", "\r\n", "\r", "é", "e\u{301}", "漢", "😀",
    "\u{0}", "\\N", "-1", ".5",
  ]

  /// Writes as naively as can be: every field that is not plain, and some that are, in quotes.
  static func table(_ random: inout RandomSource, _ delimiter: String) -> Table {
    let columns = 1 + random.below(5)
    var table = Table(rows: [], text: random.chance(10) ? "\u{FEFF}" : "")
    for _ in 0...random.below(6) {
      var row: [String] = []
      var line: [String] = []
      for _ in 0..<columns {
        var field = (0..<random.below(6)).map { _ in random.pick(alphabet) }.joined()
        // A quote and a zero at the beginning are UTF-16 rather than a name.
        if table.rows.isEmpty, row.isEmpty, field.utf8.first == 0 { field = "n" + field }
        let isPlain = field.unicodeScalars.allSatisfy {
          !"\"\r\n\(delimiter)".unicodeScalars.contains($0)
        }
        // An empty line would be no row.
        let isBare =
          isPlain && !random.chance(30) && !(columns == 1 && field.isEmpty)
          && !(table.rows.isEmpty && row.isEmpty)
        line.append(isBare ? field : "\"" + field.replacing("\"", with: "\"\"") + "\"")
        row.append(field)
      }
      table.rows.append(row)
      table.text += line.joined(separator: delimiter)
      table.text += random.pick(["\n", "\r\n", "\n\n"])
    }
    if random.chance(30) {
      while table.text.utf8.last == 0x0A || table.text.utf8.last == 0x0D {
        table.text.unicodeScalars.removeLast()
      }
    }
    return table
  }

  @Test("what a naive writer wrote is read back to the byte, at pieces of every size")
  func naive() throws {
    var random = RandomSource()
    for round in 0..<3_000 {
      let character = random.pick([",", ";", "\t", "|"] as [Character])
      let delimiter = try #require(CSVDelimiter(character))
      let table = Self.table(&random, String(character))
      let bytes = Array(table.text.utf8)

      let whole = CSVProbe.outcome(bytes, delimiter: delimiter)
      let pieces = CSVProbe.outcome(bytes, delimiter: delimiter, pieces: [1 + round % 9])
      let mixed = CSVProbe.outcome(
        bytes, delimiter: delimiter, pieces: (0..<5).map { _ in 1 + random.below(12) })

      #expect(whole.error == nil, "\(table.text.debugDescription)")
      #expect(
        whole.texts.map { $0.map { Array($0.utf8) } }
          == table.rows.map { $0.map { Array($0.utf8) } },
        "\(table.text.debugDescription)")
      #expect(whole == pieces && whole == mixed, "\(table.text.debugDescription)")
    }
  }

  @Test("fields that cross the end of a chunk are whole, at every byte")
  func chunkEnds() {
    let text = "\"é漢😀\"\"\r\n\",é漢😀,\"x\"\r\ny,,\"\"\n"
    for padding in (65_536 - text.utf8.count - 2)..<65_540 {
      let bytes =
        Array("a,b,\"".utf8) + [UInt8](repeating: 0x61, count: padding) + Array("\"\n".utf8)

      let outcome = CSVProbe.outcome(bytes + Array(text.utf8))

      #expect(outcome.error == nil)
      #expect(outcome.texts.dropFirst() == [["é漢😀\"\r\n", "é漢😀", "x"], ["y", "", ""]])
    }
  }

  @Test("a damaged table neither traps nor hangs: it is read, or its error lies inside the file")
  func mutants() {
    var random = RandomSource()
    let marks = Array("\",;\n\r\\N \u{0}".utf8) + [0x80, 0xC3, 0xE2, 0xF0, 0xFF, 0xEF, 0xBB, 0xBF]
    var accepted = 0
    let count = 20_000
    for index in 0..<count {
      var bytes = Array(Self.table(&random, ",").text.utf8)
      for _ in 0...random.below(3) where !bytes.isEmpty {
        let at = random.below(bytes.count)
        switch random.below(6) {
        case 0: bytes[at] ^= 1 << random.below(8)
        case 1: bytes[at] = random.pick(marks)
        case 2: bytes.insert(random.pick(marks), at: at)
        case 3: bytes.remove(at: at)
        case 4: bytes.removeLast(random.below(min(bytes.count, 9)))
        default: bytes.swapAt(at, random.below(bytes.count))
        }
      }
      var limits = CSVLimits()
      if random.chance(30) {
        limits.fieldByteCount = random.below(20)
        limits.rowByteCount = random.below(60)
        limits.columnCount = random.below(5)
      }

      let whole = CSVProbe.outcome(bytes, limits: limits)
      let pieces = CSVProbe.outcome(bytes, pieces: [1 + index % 5], limits: limits)

      #expect(whole == pieces, "\(bytes)")
      guard let position = whole.error?.position else {
        accepted += 1
        continue
      }
      let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      #expect((1...lines.count).contains(position.line), "\(bytes)")
      if (1...lines.count).contains(position.line) {
        #expect((1...lines[position.line - 1].count + 1).contains(position.column), "\(bytes)")
      }
    }
    #expect(accepted > count / 50 && accepted < count * 9 / 10, "\(accepted)")
  }
}
