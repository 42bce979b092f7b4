/// How a piece of a line looks.
struct Look: OptionSet, Sendable {
  let rawValue: Int

  static let bold = Look(rawValue: 1)
  static let dim = Look(rawValue: 2)
  static let reversed = Look(rawValue: 4)
  static let alert = Look(rawValue: 8)
  static let gold = Look(rawValue: 16)
  static let message: Look = [.reversed, .alert]

  /// As a terminal wants to hear it.
  var escape: String {
    var codes = ["0"]
    if contains(.bold) { codes.append("1") }
    if contains(.dim) { codes.append("2") }
    if contains(.reversed) { codes.append("7") }
    if contains(.alert) { codes.append("31") }
    if contains(.gold) { codes.append("33") }
    return "\u{1B}[" + codes.joined(separator: ";") + "m"
  }
}

/// A row of a screen.
struct Line: Equatable, ExpressibleByStringLiteral {
  struct Piece: Equatable {
    var text: String
    var look: Look
  }

  private(set) var pieces: [Piece] = []

  init(_ text: String = "", _ look: Look = []) { add(text, look) }
  init(stringLiteral text: String) { self.init(text) }

  var text: String { pieces.map(\.text).joined() }
  var columnCount: Int { pieces.reduce(0) { $0 + $1.text.columnCount } }

  mutating func add(_ text: String, _ look: Look = []) {
    if !text.isEmpty { pieces.append(Piece(text: text.printable, look: look)) }
  }

  static func + (left: Line, right: Line) -> Line {
    var line = left
    line.pieces += right.pieces
    return line
  }

  /// The line in exactly so many columns.
  func fitted(to columns: Int) -> Line {
    var line = Line()
    var rest = columns
    for piece in pieces where rest > 0 {
      let text = piece.text.columnCount > rest ? piece.text.fitted(to: rest) : piece.text
      line.add(text, piece.look)
      rest -= text.columnCount
    }
    // Goes on with how the last piece looks, as a selected row is selected to its end.
    let last = pieces.last?.look ?? []
    line.add(String(repeating: " ", count: rest), last.intersection(.reversed))
    return line
  }

  func with(_ look: Look) -> Line {
    var line = self
    for index in line.pieces.indices { line.pieces[index].look.formUnion(look) }
    return line
  }

  /// As a terminal wants to hear it.
  var escaped: String { pieces.map { $0.look.escape + $0.text }.joined() + Look().escape }
}
