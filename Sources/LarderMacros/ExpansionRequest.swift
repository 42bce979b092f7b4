internal import LarderScanner

/// A piece of the user's source, as the compiler sends it.
struct Syntax {
  let source: String
  /// Of the first byte of `source`.
  let start: Place

  init?(_ json: JSON?) {
    guard let json, let source = json["source"]?.string,
      let offset = json["location"]?["offset"]?.integer,
      let file = json["location"]?["fileName"]?.string
    else { return nil }
    self.source = source
    start = Place(file: file, offset: offset)
  }

  /// Where an offset in `source` is in the file.
  func place(_ offset: Int) -> Place {
    Place(file: start.file, offset: start.offset + offset)
  }
}

/// One macro at one declaration.
struct ExpansionRequest {
  /// The macro: `Document`.
  let macro: String
  let role: String
  let attribute: Syntax
  let syntax: Syntax
  let declaration: Declaration
  /// What an extension of the type is to name: `Outer.Contact`.
  let extendedType: String
  /// The protocols that the type does not conform to yet.
  let missingConformances: [String]
  /// The types around the declaration, the innermost first.
  let context: [Declaration]

  init?(_ json: JSON) {
    guard let macro = json["macro"]?["typeName"]?.string, let role = json["macroRole"]?.string,
      let attribute = Syntax(json["attributeSyntax"]), let syntax = Syntax(json["declSyntax"])
    else { return nil }
    self.macro = macro
    self.role = role
    self.attribute = attribute
    self.syntax = syntax
    declaration = Declaration(reading: syntax.source)
    let extended = json["extendedTypeSyntax"]?["source"]?.string
    extendedType = extended ?? declaration.name.text
    let conformances = json["conformanceListSyntax"]?["source"]?.string
    missingConformances =
      conformances.map(Declaration.init(reading:))?.inheritance.map(\.text) ?? []
    context = (json["lexicalContext"]?.elements ?? []).compactMap { $0["source"]?.string }
      .map(Declaration.init(reading:))
  }

  /// What the macro expands to; no source where there are errors.
  var answer: (source: String?, diagnostics: [Diagnostic]) {
    switch (DocumentMacro(rawValue: macro), FieldAttribute(rawValue: macro), role) {
    case (let macro?, _, "extension"), (let macro?, _, "member"): return macro.expansion(of: self)
    case (_, let attribute?, "peer"): return ("", attribute.diagnostics(self))
    default:
      let message = "Larder has no macro `\(macro)` that makes a declaration's \(role)"
      return (nil, [Diagnostic(message, at: attribute.start)])
    }
  }
}
