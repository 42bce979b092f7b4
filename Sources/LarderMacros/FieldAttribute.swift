internal import LarderScanner

/// What a stored property is marked with. These write nothing themselves: the type's own macro
/// reads them.
enum FieldAttribute: String {
  case key = "Key"
  case indexed = "Indexed"
  case stored = "Stored"
  case transient = "Transient"
  case searchable = "Searchable"
  case merge = "Merge"

  init?(_ attribute: Attribute) {
    guard attribute.qualifier == nil || attribute.qualifier == "Larder" else { return nil }
    self.init(rawValue: attribute.name)
  }

  /// What is wrong with the place where the attribute stands. All else is said by the macro of the
  /// type around it.
  func diagnostics(_ request: ExpansionRequest) -> [Diagnostic] {
    let declaration = request.declaration
    let attribute = declaration.attributes.first { FieldAttribute($0) == self }
    let place = request.syntax.place(attribute?.offset ?? 0)
    guard declaration.kind == .variable else {
      return [Diagnostic("`@\(rawValue)` belongs in front of a stored property", at: place)]
    }
    guard let owner = request.context.first, !owner.isMarked(.document, .embeddedDocument) else {
      return []
    }
    return [
      Diagnostic(
        """
        `@\(rawValue)` means nothing here: \(owner.subject) is not marked `@Document` or \
        `@EmbeddedDocument`
        """, at: place)
    ]
  }
}

extension Declaration {
  func isMarked(_ macros: DocumentMacro...) -> Bool {
    attributes.contains { attribute in DocumentMacro(attribute).map(macros.contains) ?? false }
  }

  fileprivate var subject: String {
    switch kind {
    case .extension: "an extension"
    default: name.text.isEmpty ? "what it stands in" : "`\(name.text)`"
    }
  }
}
