extension String {
  /// Text that the shell hands over.
  ///
  /// - Parameter name: What it is called in messages.
  /// - Throws: ``UsageError`` for text that is not UTF-8.
  init(utf8 text: UnsafePointer<CChar>, calledOnError name: String) throws(UsageError) {
    guard let valid = String(validatingCString: text) else {
      throw UsageError(
        "\(name) is not UTF-8: \(String(cString: text).inQuotes). "
          + "Write it in UTF-8, and rename a file that has such a name")
    }
    self = valid
  }
}

/// An option that a command knows.
struct Option {
  let name: String
  /// What its value is called in messages; nil where it takes none.
  let valueName: String?
  /// Whether it may be given several times.
  let repeats: Bool

  init(_ name: String, takes valueName: String? = nil, repeats: Bool = false) {
    self.name = name
    self.valueName = valueName
    self.repeats = repeats
  }
}

/// The words behind a command, told apart.
///
/// Options may stand before and behind operands, with their value in the same word (`--to=x`) or in
/// the next one. Behind `--` everything is an operand; so are `-` and negative numbers.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]

  /// - Parameter takesMinus: Whether words with one minus in front are operands, too.
  /// - Throws: ``UsageError`` for an option that is not known, stands twice or lacks its value.
  init(_ words: [String], options: [Option], takesMinus: Bool = false) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      }
      let prefix = takesMinus ? "--" : "-"
      guard word.hasPrefix(prefix), word != "-", Int64(word) == nil else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let spelling = String(parts[0])
      guard let option = options.first(where: { "--" + $0.name == spelling }) else {
        throw UsageError(
          "there is no option \(spelling.inQuotes)"
            + Spelling.suggestion(spelling, among: options.map { "--" + $0.name } + ["--help"]))
      }
      let inline = parts.count > 1 ? String(parts[1]) : nil
      let value = try Self.value(of: option, inline, &rest)
      guard option.repeats || values[option.name] == nil else {
        throw UsageError("\(spelling) stands twice")
      }
      values[option.name, default: []].append(value)
    }
  }

  private static func value(
    of option: Option, _ inline: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageError) -> String {
    guard let valueName = option.valueName else {
      if inline == nil { return "" }
      throw UsageError("--\(option.name) takes no value")
    }
    guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
      throw UsageError("--\(option.name) needs a value: --\(option.name) \(valueName)")
    }
    return value
  }

  /// The value of an option; nil where it was not given.
  subscript(name: String) -> String? { values[name]?.first }

  /// The values of an option that may be given several times, in their order.
  func all(_ name: String) -> [String] { values[name] ?? [] }

  func has(_ name: String) -> Bool { values[name] != nil }

  /// The operands, which must be as many as have names.
  ///
  /// - Throws: ``UsageError`` that names what is missing or too much.
  func operands(_ names: String...) throws(UsageError) -> [String] {
    if operands.count < names.count {
      throw UsageError("\(names[operands.count]) is missing")
    }
    if operands.count > names.count {
      throw UsageError("\(operands[names.count].inQuotes) is one word too many")
    }
    return operands
  }
}
