@testable import LarderImport

/// Runs the reader over texts for the tests of this folder.
enum CSVProbe {
  /// What came of reading a source to the end or the error.
  struct Outcome: Equatable {
    var rows: [[Cell]] = []
    var error: ImportError?

    var texts: [[String]] { rows.map { $0.map(\.text) } }
  }

  struct Cell: Equatable {
    let text: String
    let isQuoted: Bool
    let position: TextPosition

    static func == (left: Cell, right: Cell) -> Bool {
      left.text.utf8.elementsEqual(right.text.utf8) && left.isQuoted == right.isQuoted
        && left.position == right.position
    }
  }

  static func outcome(
    _ bytes: [UInt8], delimiter: CSVDelimiter = .comma, pieces: [Int] = [65_536],
    limits: CSVLimits = CSVLimits()
  ) -> Outcome {
    var outcome = Outcome()
    let source = ByteSource(bytes: bytes, name: "test.csv", pieceByteCounts: pieces)
    var reader = CSVReader(source, delimiter: delimiter, limits: limits)
    do throws(ImportError) {
      while try reader.next() {
        var row: [Cell] = []
        for (index, position) in reader.positions().enumerated() {
          let text = reader.withCell(index) { String(decoding: $0, as: UTF8.self) }
          row.append(
            Cell(text: text, isQuoted: reader.cells[index].isQuoted, position: position))
        }
        outcome.rows.append(row)
      }
    } catch {
      outcome.error = error
    }
    return outcome
  }

  static func outcome(
    _ text: String, delimiter: CSVDelimiter = .comma, limits: CSVLimits = CSVLimits()
  ) -> Outcome {
    outcome(Array(text.utf8), delimiter: delimiter, limits: limits)
  }
}
