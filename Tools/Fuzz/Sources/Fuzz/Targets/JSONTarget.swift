@testable import LarderImport

/// Text to import. The first bytes choose the shape and the sizes in which the text is read.
struct JSONTarget: FuzzTarget {
  func run(_ input: FuzzInput) {
    var input = input
    let shapes: [JSONShape] = [.automatic, .array, .keyed, .lines]
    let shape = shapes[Int(input.byte()) & 3]
    let pieces = [1 + Int(input.byte()) % 16, 1 + Int(input.byte())]
    let text = [UInt8](input.rest())
    let whole = outcome(text, shape, [65_536])
    if outcome(text, shape, pieces) != whole {
      broken("how the text is cut into pieces changes nothing")
    }
  }

  /// All documents and the error, to the last byte.
  private func outcome(_ text: [UInt8], _ shape: JSONShape, _ pieces: [Int]) -> [UInt8] {
    var limits = JSONLimits()
    limits.memberCount = 64
    limits.stringByteCount = 512
    limits.lineByteCount = 1024
    limits.documentByteCount = 1024
    let source = ByteSource(bytes: text, name: "text", pieceByteCounts: pieces)
    var documents = JSONDocuments(source, shape: shape, limits: limits)
    var found = ""
    do throws(ImportError) {
      while let document = try documents.next() { found += "\(document)\n" }
    } catch {
      found += "\(error)"
    }
    return Array(found.utf8)
  }

  static func seeds() throws -> [String: [UInt8]] {
    let texts = [
      "array": #"[{"id": "a", "n": [1, -0.5e3, true, null], "é": "\u00e9\n"}, {"id": "b"}]"#,
      "keyed": #"{"a": {"n": 1}, "b": {"n": {"m": [[]]}}}"#,
      "lines": "{\"id\": 1}\r\n\n{\"id\": 2, \"t\": \"\\ud83d\\ude00\"}\n",
      "numbers": #"[{"n": [9223372036854775807, 18446744073709551615, 1e400, 0.1, -0]}]"#,
    ]
    return texts.mapValues { [0, 6, 16] + Array($0.utf8) }
  }
}
