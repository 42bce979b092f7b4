/// A list with commas between its parts, each of which may begin with a name in quotes, as in CSV:
/// `zip=string,"last, first"=string`. A quote in quotes is doubled.
struct QuotedList {
  private(set) var parts: [Part] = []

  struct Part {
    /// The name in quotes; nil where the part does not begin with a quote.
    var name: String?
    /// What stands behind the name, or the whole part.
    var text = ""
  }

  /// - Parameter option: What an error calls the list.
  /// - Throws: ``UsageError`` for a quote without an end.
  init(_ list: String, option: String) throws(UsageError) {
    var rest = Substring(list)
    while true {
      var part = Part()
      if rest.first == "\"" {
        guard let name = Self.takeName(&rest) else {
          throw UsageError("--\(option): a quote has no end in \(list.inQuotes)")
        }
        part.name = name
      }
      let text = rest.prefix { $0 != "," }
      part.text = String(text)
      parts.append(part)
      rest = rest[text.endIndex...]
      guard rest.popFirst() != nil else { return }
    }
  }

  /// Takes the name whose quote comes first; nil where no other ends it.
  private static func takeName(_ rest: inout Substring) -> String? {
    var name = ""
    rest.removeFirst()
    while let character = rest.popFirst() {
      if character == "\"" {
        guard rest.first == "\"" else { return name }
        rest.removeFirst()
      }
      name.append(character)
    }
    return nil
  }
}
