import Larder

/// An error as it is told to another process: its kind in one word, and what its reader sees.
struct ErrorWords: Equatable {
  let kind: String
  let text: String

  init(kind: String, text: String) {
    self.kind = kind
    self.text = text
  }

  init(_ error: any Error) {
    text = "\(error)"
    guard let error = error as? StoreError else {
      kind = "\(type(of: error))"
      return
    }
    switch error {
    case .closed: kind = "closed"
    case .readOnly: kind = "readOnly"
    case .nestedWrite: kind = "nestedWrite"
    case .full(let shortage): kind = "full/\(shortage.limit)"
    default:
      let only = Mirror(reflecting: error).children.first
      let name = only?.label ?? "unknown"
      // The layer below is not named here: what its error says of itself is.
      let code = only.flatMap { Mirror(reflecting: $0.value).children.first { $0.label == "code" } }
      guard name == "storage", let code else {
        kind = name
        return
      }
      let number = Mirror(reflecting: code.value).children.first
        .map { Mirror(reflecting: $0.value).children.first?.value ?? $0.value }
      kind = number.map { "system/\($0)" } ?? "\(code.value)"
    }
  }

  /// Whether it is one of the library's own errors, by its case.
  var isTyped: Bool { kind.first?.isLowercase == true && kind != "unknown" }

  /// Whether it speaks to people: sentences, with something to be done in them.
  var isHelpful: Bool {
    let words = text.split { !$0.isLetter && $0 != "'" }.map { $0.lowercased() }
    // An import says how far it came, in the manner of a compiler.
    let isWhole = text.hasSuffix(".") || kind.hasPrefix("Import")
    return isWhole && !text.contains("Optional(") && !text.contains("StoreError")
      && words.contains { Self.deeds.contains(String($0)) }
  }

  /// What an error can ask its reader to do.
  private static let deeds: Set<String> = [
    "begin", "build", "check", "choose", "close", "delete", "end", "export", "fewer", "finish",
    "free", "give", "import", "link", "make", "name", "open", "raise", "rebuild", "remove",
    "restore", "run",
    "save", "shorten", "split", "stop", "take", "try", "use",
  ]
}
