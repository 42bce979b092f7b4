// Without Foundation: its `contains` on strings is another function than Swift's own.

/// What the text operators of queries have to mean.
enum TextOracle {
  static func contains(_ text: String, _ part: String) -> Bool { text.contains(part) }
  static func hasPrefix(_ text: String, _ part: String) -> Bool { text.hasPrefix(part) }
  static func hasSuffix(_ text: String, _ part: String) -> Bool { text.hasSuffix(part) }

  /// What `<` is asked about: of strings that are not in their normal form it knows no order.
  static func normal(_ text: String) -> String {
    text.utf8.allSatisfy { $0 < 0x80 } ? text : composed(text)
  }
}
