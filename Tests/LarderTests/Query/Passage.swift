import Larder
import LarderTestKit

/// A text with what stands around it, under indexes of texts and of elements.
struct Passage: Document, Identifiable, Equatable {
  var id: Int
  var shelf = 0
  var order = 0
  var text = ""
  var note: String?
  var tags: [String] = []
  var marks: [String?] = []
  var sizes: [Int] = []

  static let schema = Schema<Passage>(
    "Passage", key: \.id,
    fields: [
      Field("id", \.id), Field("shelf", \.shelf), Field("order", \.order), Field("text", \.text),
      Field("note", \.note), Field("tags", \.tags), Field("marks", \.marks),
      Field("sizes", \.sizes),
    ])

  static let indexes: [Index<Passage>] = [
    Index(\.text), Index(.ascending(\.shelf), .descending(\.note)), Index(\.tags),
    Index(.ascending(\.shelf), .descending(\.tags), .ascending(\.order)), Index(\.sizes),
    Index(\.order), Index(\.shelf),
  ]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(shelf, at: 1)
    record.put(order, at: 2)
    record.put(text, at: 3)
    record.put(note, at: 4)
    record.put(tags, at: 5)
    record.put(marks, at: 6)
    record.put(sizes, at: 7)
  }
}

extension Passage {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), shelf: try record.get(1), order: try record.get(2),
      text: try record.get(3), note: try record.get(4), tags: try record.get(5),
      marks: try record.get(6), sizes: try record.get(7))
  }

  init(id: Int, _ letters: Letters, using random: inout RandomSource) {
    self.init(
      id: id, shelf: random.int(0..<3), order: random.int(0..<40),
      text: letters.text(0..<8, &random),
      note: random.once(in: 4) ? nil : letters.text(0..<5, &random),
      tags: random.array(0..<4) { letters.text(0..<3, &$0) },
      marks: random.array(0..<3) { $0.bool() ? nil : letters.text(0..<2, &$0) },
      sizes: random.array(0..<4) { $0.int(0..<9) })
  }
}

/// Letters whose spellings, neighbours and places decide where characters begin and end.
struct Letters {
  private let pool: [String]

  static let latin = [
    "a", "b", "e", "S", "s", "i", "K", ";", "`", "-", " ", "\u{0}", "\r", "\n", "\r\n", "\u{AD}",
    "\u{B7}", "\u{E9}", "\u{160}", "\u{C5}", "\u{FC}", "\u{1D6}", "\u{2C7}",
  ]
  static let others = [
    "\u{300}", "\u{301}", "\u{304}", "\u{308}", "\u{30A}", "\u{30C}", "\u{345}", "\u{37E}",
    "\u{387}", "\u{3AC}", "\u{3B1}", "\u{1F71}", "\u{1FEF}", "\u{1FFD}", "\u{212A}", "\u{212B}",
    "\u{2014}", "\u{2019}", "\u{2028}", "\u{20AC}", "\u{439}", "\u{438}", "\u{306}", "\u{489}",
    "\u{600}", "\u{628}", "\u{915}", "\u{94D}", "\u{93F}", "\u{E33}", "\u{1100}", "\u{1161}",
    "\u{11A8}", "\u{AC00}", "\u{AC01}", "\u{304B}", "\u{304C}", "\u{3099}", "\u{4E2D}", "\u{F900}",
    "\u{FE0F}", "\u{FF21}", "\u{FF76}", "\u{FF9E}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{1F468}",
    "\u{1F469}", "\u{1F1E9}", "\u{1F1EA}", "\u{1F3FD}", "\u{A9}",
  ]

  /// A few of them, so that they meet again.
  init(using random: inout RandomSource) {
    let latin = (0..<random.int(2..<7)).map { _ in random.pick(Self.latin) }
    let others = (0..<random.int(0..<6)).map { _ in random.pick(Self.others) }
    pool = latin + others
  }

  func text(_ counts: Range<Int>, _ random: inout RandomSource) -> String {
    let text = (0..<random.int(counts)).map { _ in random.pick(pool) }.joined()
    // Up to where indexes cut values, and beyond.
    return random.once(in: 40) ? String(repeating: "x", count: random.int(236..<252)) + text : text
  }
}
