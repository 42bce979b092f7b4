import Foundation

/// Shows a load: on a terminal a table that is written over, elsewhere a line every few seconds.
final class LoadDisplay {
  private let options: LoadOptions
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  /// How long each line is that stands there.
  private var shown: [Int] = []
  private var saidAt = -Double.infinity
  private var isEnded = false

  init(_ options: LoadOptions) {
    self.options = options
    if isTerminal { put("\u{1B}[?25l") }  // No cursor in the middle of figures.
  }

  func show(_ sample: LoadSample, _ samples: [LoadSample]) {
    guard isTerminal else { return showPlainly(sample) }
    let width = Self.width
    let lines = self.lines(sample, samples, width: width).map { String($0.prefix(width - 1)) }
    var text = eraser(width)
    for line in lines { text += line + "\n" }
    put(text)
    shown = lines.map(\.count)
  }

  /// What takes away the lines that stand there, which a terminal that became narrower has wrapped.
  private func eraser(_ width: Int) -> String {
    let rows = shown.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
    return rows > 0 ? "\u{1B}[\(rows)A\r\u{1B}[J" : ""
  }

  /// Leaves the terminal as it was found.
  func end() {
    guard !isEnded else { return }
    isEnded = true
    guard isTerminal else { return }
    put(eraser(Self.width) + "\u{1B}[?25h")
  }

  private func put(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
  }

  /// Columns; 80 where the output is no terminal.
  static var width: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return max(20, Int(size.ws_col))
  }

  // MARK: Lines

  private func lines(_ sample: LoadSample, _ samples: [LoadSample], width: Int) -> [String] {
    let isNarrow = width < 64
    let time = "\(Int(sample.seconds)) of \(options.seconds) s"
    var lines = [
      isNarrow
        ? "load, \(time)"
        : "load: \(options.writers) writers, \(options.readers) readers, "
          + "\(options.watchers) watchers, \(time), Ctrl-C ends"
    ]
    lines += Self.table([sample.writes, sample.reads, sample.news], width: width)
    let figures = [
      "memory \(LoadText.bytes(sample.memoryByteCount))",
      "file \(LoadText.bytes(sample.fileByteCount))",
      "free \(LoadText.bytes(sample.freeByteCount))",
      "log \(LoadText.bytes(sample.logByteCount))",
      "log lag \(LoadText.count(Double(sample.logLag)))",
      "readers \(sample.readerSlots) of \(sample.maximumReaderSlots)",
    ]
    lines += Self.wrapped(figures, width: width)
    let room = min(60, width - 12)
    lines.append("writes/s  " + Self.bars(samples.suffix(room).map { $0.writes.perSecond ?? 0 }))
    lines.append("reads/s   " + Self.bars(samples.suffix(room).map { $0.reads.perSecond ?? 0 }))
    return lines
  }

  /// One line for each kind of work.
  static func table(_ work: [LoadSample.Work], width: Int) -> [String] {
    let isNarrow = width < 64
    func line(_ cells: [String]) -> String {
      let name = cells[0].padding(toLength: isNarrow ? 7 : 14, withPad: " ", startingAt: 0)
      let widths = isNarrow ? [9, 9, 9] : [12, 10, 10, 10, 14]
      return name
        + zip(cells.dropFirst(), widths).map { cell, width in
          String(repeating: " ", count: max(1, width - cell.count)) + cell
        }.joined()
    }
    let head = ["", "per second", "p50", "p99"] + (isNarrow ? [] : ["p99.9", "total"])
    let names = isNarrow ? ["writes", "reads", "news"] : ["writes", "reads", "notifications"]
    return [line(isNarrow ? ["", "/s", "p50", "p99"] : head)]
      + zip(names, work).map { name, work in
        line(
          [
            name, LoadText.count(work.perSecond), LoadText.time(work.p50), LoadText.time(work.p99),
          ]
            + (isNarrow
              ? [] : [LoadText.time(work.p999), LoadText.count(Double(work.total))]))
      }
  }

  private static func wrapped(_ words: [String], width: Int) -> [String] {
    var lines: [String] = []
    for word in words {
      if let last = lines.last, last.count + 3 + word.count < width {
        lines[lines.count - 1] = last + "   " + word
      } else {
        lines.append(word)
      }
    }
    return lines
  }

  /// The highest is the tallest.
  private static func bars(_ values: [Double]) -> String {
    let steps = Array(" ▁▂▃▄▅▆▇█")
    guard let highest = values.max(), highest > 0 else { return "" }
    return String(values.map { steps[Int(($0 / highest * 8).rounded())] })
  }

  private func showPlainly(_ sample: LoadSample) {
    guard sample.seconds >= saidAt + 5 || sample.seconds >= Double(options.seconds) else { return }
    saidAt = sample.seconds
    func words(_ name: String, _ work: LoadSample.Work) -> String {
      "\(name) \(LoadText.count(work.perSecond))/s p50 \(LoadText.time(work.p50)) "
        + "p99 \(LoadText.time(work.p99)) p99.9 \(LoadText.time(work.p999))"
    }
    say(
      [
        "\(Int(sample.seconds)) s", words("writes", sample.writes), words("reads", sample.reads),
        words("news", sample.news), "memory \(LoadText.bytes(sample.memoryByteCount))",
        "file \(LoadText.bytes(sample.fileByteCount))",
        "log \(LoadText.bytes(sample.logByteCount))",
        "lag \(sample.logLag)", "readers \(sample.readerSlots)",
      ].joined(separator: "; "))
  }
}
