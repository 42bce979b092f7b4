@testable import LarderImport

/// Rows to import. The first bytes choose the delimiter and the sizes in which the text is read.
struct CSVTarget: FuzzTarget {
  func run(_ input: FuzzInput) {
    var input = input
    let delimiters: [CSVDelimiter] = [.comma, .semicolon, .tab, .pipe]
    let delimiter = delimiters[Int(input.byte()) & 3]
    let pieces = [1 + Int(input.byte()) % 16, 1 + Int(input.byte())]
    let text = [UInt8](input.rest())
    let whole = outcome(text, delimiter, [65_536])
    if outcome(text, delimiter, pieces) != whole {
      broken("how the text is cut into pieces changes nothing")
    }
  }

  /// All fields, where they stand, and the error, to the last byte.
  private func outcome(
    _ text: [UInt8], _ delimiter: CSVDelimiter, _ pieces: [Int]
  ) -> [UInt8] {
    var limits = CSVLimits()
    limits.columnCount = 32
    limits.fieldByteCount = 512
    limits.rowByteCount = 1024
    var reader = CSVReader(
      ByteSource(bytes: text, name: "text", pieceByteCounts: pieces), delimiter: delimiter,
      limits: limits)
    var found: [UInt8] = []
    do throws(ImportError) {
      while try reader.next() {
        for (index, position) in reader.positions().enumerated() {
          reader.withCell(index) { found += $0 }
          found += Array("\(reader.cells[index].isQuoted) \(position)\n".utf8)
          if !reader.withCell(index, { String(validating: $0, as: UTF8.self) != nil }) {
            broken("fields are UTF-8")
          }
        }
        found.append(0)
      }
    } catch {
      found += Array("\(error)".utf8)
    }
    return found
  }

  static func seeds() throws -> [String: [UInt8]] {
    let texts = [
      "plain": "id,name,n\r\na,Ada,1\r\nb,Bo,2.5\r\n",
      "quoted": "\u{FEFF}\"id\",\"t\"\n\"a\",\"x\"\"y, z\nnext\"\n\"\",\n\nb,é😀",
      "ragged": "a,b\n1,2,3\n",
    ]
    return texts.mapValues { [0, 6, 16] + Array($0.utf8) }
  }
}
