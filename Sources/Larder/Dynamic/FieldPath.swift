/// The way down to a field of a document without a type: `city`, `geo.lat`.
///
/// As text, names stand between dots; a name that is not made of letters, digits, `_` and `-`
/// alone, or begins with a digit or `-`, stands between backquotes, its own doubled.
public struct FieldPath: Hashable, Sendable {
  /// The names, from the document's own field on; never none.
  public let names: [String]

  /// A field of the document itself, whatever its name holds.
  public init(field name: String) { names = [name] }

  /// A field down a way of `names`; nil where there are none.
  public init?(names: [String]) {
    guard !names.isEmpty else { return nil }
    self.names = names
  }

  /// The path in its text, such as `geo.lat`; nil where it is no path.
  public init?(_ text: String) {
    var names: [String] = []
    var rest = text.unicodeScalars[...]
    while true {
      guard let name = Self.name(takenFrom: &rest) else { return nil }
      names.append(name)
      guard let dot = rest.popFirst() else { break }
      guard dot == "." else { return nil }
    }
    self.names = names
  }

  /// A field inside the one of this path.
  public func appending(_ name: String) -> FieldPath { FieldPath(names: names, name) }

  private init(names: [String], _ last: String) { self.names = names + [last] }
}

extension FieldPath: CustomStringConvertible {
  public var description: String { names.map(Self.notation).joined(separator: ".") }

  private static func notation(_ name: String) -> String {
    if isPlain(name) { return name }
    var text = "`"
    for scalar in name.unicodeScalars {
      if scalar == "`" { text.unicodeScalars.append(scalar) }
      text.unicodeScalars.append(scalar)
    }
    return text + "`"
  }

  /// Whether a name needs no backquotes.
  package static func isPlain(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, canBegin(first) else { return false }
    return name.unicodeScalars.allSatisfy(canContinue)
  }

  /// Whether a name without backquotes may begin with `scalar`.
  package static func canBegin(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? scalar == "_" || scalar.properties.isAlphabetic : scalar.isWordScalar
  }

  /// Whether `scalar` may stand in a name without backquotes.
  package static func canContinue(_ scalar: Unicode.Scalar) -> Bool {
    canBegin(scalar) || scalar == "-" || ("0"..."9").contains(scalar)
  }

  /// Takes a name off the beginning; nil where there is none.
  private static func name(takenFrom rest: inout Substring.UnicodeScalarView) -> String? {
    if rest.first == "`" { return quotedName(takenFrom: &rest) }
    let name = rest.prefix(while: canContinue)
    guard let first = name.first, canBegin(first) else { return nil }
    rest = rest[name.endIndex...]
    return String(name)
  }

  /// Takes a name in backquotes off the beginning; nil where they do not end.
  package static func quotedName(takenFrom rest: inout Substring.UnicodeScalarView) -> String? {
    rest.removeFirst()
    var name = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == "`" {
        guard rest.first == "`" else { return String(name) }
        rest.removeFirst()
      }
      name.append(scalar)
    }
    return nil
  }
}

extension Unicode.Scalar {
  /// Letters, marks and digits of any script.
  fileprivate var isWordScalar: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }
}
