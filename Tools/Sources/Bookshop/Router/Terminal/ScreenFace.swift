/// What a reader has typed and where a reader stands: of no interest to anyone but this router.
struct ScreenFace {
  var draft = ""
  /// The phone that the draft is the code of.
  var phone: String?
  var isSearching = false
  /// The selected book, which is found again when others come and go.
  var selected: Book.ID?
  /// Where it stood when it was seen last.
  var row = 0
  /// The first row that is seen.
  var scroll = 0
}

/// What a screen shows, before it is made to fit.
struct Drawing {
  var title: String
  var note = ""
  var body: [Line] = []
  var help: String
}

/// What the reader is told above the help.
struct Notice {
  var text: String
  /// How many wait behind it.
  var more = 0
  /// The key that takes it away.
  var answer = "x"
}

/// Draws screens. What it gives depends on its input alone.
struct ScreenPainter {
  let columns: Int
  let rows: Int

  /// The rows between the title and the help.
  func bodyRows(_ message: Notice?) -> Int { max(0, rows - 2 - lines(of: message).count) }

  /// What the reader is told, in as many rows as it needs: up to a third of a window of some size.
  private func lines(of message: Notice?) -> [Line] {
    guard let message else { return [] }
    let more = message.more > 0 ? " (+\(message.more))" : ""
    let answer = more + " [\(message.answer)] "
    let room = max(0, columns - answer.columnCount)
    var texts = message.text.wrapped(to: room - 4)
    let maximum = max(1, rows / 3)
    if texts.isEmpty || texts.count > maximum {
      // The last row says by its end that there would be more.
      let rest = texts.dropFirst(maximum - 1).joined(separator: " ")
      texts = texts.prefix(maximum - 1) + [texts.isEmpty ? message.text.printable : rest]
    }
    return texts.enumerated().map { index, text in
      let line = Line(((index == 0 ? " ! " : "   ") + text).fitted(to: room), .message)
      let end = index == texts.count - 1 ? answer : ""
      return (line + Line(end.fitted(to: columns - room), .message)).fitted(to: columns)
    }
  }

  /// A whole frame: exactly so many rows of exactly so many columns.
  func frame(
    _ drawing: Drawing, isModal: Bool, message: Notice?
  ) -> [Line] {
    var lines = [titleLine(drawing)]
    let count = bodyRows(message)
    // A box needs room for its edges.
    let isBoxed = isModal && columns > 6 && count > 2
    lines += isBoxed ? boxed(drawing, count) : filled(drawing, count)
    lines += self.lines(of: message)
    lines.append(Line(" " + drawing.help, .dim).fitted(to: columns))
    return Array(lines.prefix(rows))
  }

  private func titleLine(_ drawing: Drawing) -> Line {
    let note = drawing.note.isEmpty ? "" : drawing.note + " "
    let hasNote = note.columnCount + drawing.title.columnCount + 3 <= columns
    let room = max(0, columns - (hasNote ? note.columnCount : 0))
    let title = (" " + drawing.title).printable.fitted(to: room)
    return (Line(title, [.bold, .reversed]) + Line(hasNote ? note : "", .reversed))
      .fitted(to: columns)
  }

  /// Where a body stands in a frame that has a border, if it is one.
  func bodyColumns(isModal: Bool) -> Int { max(1, isModal ? columns - 4 : columns - 2) }

  private func filled(_ drawing: Drawing, _ count: Int) -> [Line] {
    (0..<count).map { row in
      (row < drawing.body.count ? drawing.body[row] : Line()).fitted(to: columns)
    }
  }

  private func boxed(_ drawing: Drawing, _ count: Int) -> [Line] {
    let edge = String(repeating: "─", count: columns - 2)
    var lines = [Line("┌\(edge)┐", .dim)]
    for row in 0..<count - 2 {
      let line = row < drawing.body.count ? drawing.body[row] : Line()
      lines.append(Line("│", .dim) + line.fitted(to: columns - 2) + Line("│", .dim))
    }
    return lines + [Line("└\(edge)┘", .dim)]
  }
}
