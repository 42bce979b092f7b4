internal import LarderScanner

/// Makes of a declaration what is to be written about it, or says why it cannot.
struct DocumentReading {
  let request: ExpansionRequest
  let macro: DocumentMacro
  var declaration: Declaration { request.declaration }
  var fields: [DocumentModel.Field] = []
  var keys: [Variable] = []
  /// Where each literal name is stored under.
  var names: [String: Variable] = [:]
  private(set) var diagnostics: [Diagnostic] = []

  init(_ request: ExpansionRequest, _ macro: DocumentMacro) {
    self.request = request
    self.macro = macro
  }

  mutating func fail(
    _ message: String, at offset: Int, note: String? = nil, noteAt noteOffset: Int = 0
  ) {
    diagnostics.append(
      Diagnostic(
        message, at: request.syntax.place(offset),
        notes: note.map { [($0, request.syntax.place(noteOffset))] } ?? []))
  }

  mutating func read() -> DocumentModel? {
    guard checkType() else { return nil }
    for offset in declaration.unreadable.prefix(1) {
      fail(
        """
        `@\(macro.rawValue)` cannot read this member. Write it another way, or conform to \
        `\(macro.rawValue)` by hand
        """, at: offset)
    }
    for attribute in declaration.conditionalAttributes where FieldAttribute(attribute) != nil {
      fail(
        "`@\(attribute.name)` cannot depend on `#if`: a record's fields are the same in all builds",
        at: attribute.offset)
    }
    for variable in declaration.variables { read(variable) }
    let key = readKey()
    let name = writtenName(in: ownAttribute) ?? literal(declaration.name.plainName)
    guard diagnostics.isEmpty else { return nil }
    return DocumentModel(
      extendedType: request.extendedType, availability: availability, access: access,
      isDeprecated: declaration.variables.contains(where: \.isDeprecated), name: name,
      conformances: conformances, hasSearch: isSearched && !hasOwnSearch, fields: fields, key: key,
      hasOwnAccessor: hasOwnAccessor,
      isMemberwise: isMemberwise)
  }
}

// MARK: The type

extension DocumentReading {
  private var ownAttribute: Attribute? {
    declaration.attributes.first { DocumentMacro($0) == macro }
  }

  private mutating func checkType() -> Bool {
    let name = macro.rawValue
    switch declaration.kind {
    case .structure: break
    case .class, .actor:
      fail(
        """
        `@\(name)` needs a struct, because a document is a value. Write \
        `struct \(declaration.name.text)`, or keep this type and store a struct of its own \
        through an `EntityMapper`
        """, at: declaration.keyword.offset)
      return false
    case .enumeration:
      fail(
        """
        `@\(name)` needs a struct. An enum can be a field: declare it `Storable` if it has a raw \
        value, or `Codable`
        """, at: declaration.keyword.offset)
      return false
    default:
      fail("`@\(name)` needs a struct", at: declaration.keyword.offset)
      return false
    }
    let generic = declaration.generics?.offset
    let outer = request.context.first { $0.generics != nil }
    if generic != nil || outer != nil {
      let reason =
        outer.map { "`\($0.name.text)` around it is generic" } ?? "`\(declaration.name.text)` is"
      fail(
        """
        `@\(name)` does not write for generic types, which have no stored static properties, and \
        \(reason). Conform to `\(name)` by hand, with a computed `schema`
        """, at: generic ?? declaration.name.offset)
      return false
    }
    let own = declaration.attributes.filter { DocumentMacro($0) != nil }
    if own.count > 1 {
      // Where they differ both are asked, and one says so.
      if macro == .document || own.allSatisfy({ DocumentMacro($0) == macro }) {
        let names = own.map { "`@\($0.name)`" }
        fail(
          "`\(declaration.name.text)` is marked twice: \(names[0]) and \(names[1]). Leave one of them",
          at: own[1].offset)
      }
      return false
    }
    let names = [declaration.name] + declaration.types
    if let reserved = names.first(where: { $0.plainName == Self.module }) {
      fail(Self.reservedModule, at: reserved.offset)
      return false
    }
    if let schema = declaration.variables.first(where: {
      $0.name.plainName == "schema" && $0.hasModifier("static")
    }) {
      fail(
        """
        a static `schema` is what `@\(name)` writes. Give yours another name, or conform to `\(name)` by \
        hand
        """, at: schema.name.offset)
      return false
    }
    // A type that is private to another one cannot be named in an extension beside that.
    let nested = ([declaration] + request.context).dropLast()
    if let hidden = nested.first(where: { $0.modifiers.contains { $0.text == "private" } }) {
      let modifier = declaration.modifiers.first { $0.text == "private" }
      fail(
        """
        `@\(name)` cannot write an extension of a type that is private to another. Write \
        `fileprivate` in front of `\(hidden.name.text)`
        """, at: modifier?.offset ?? declaration.name.offset)
      return false
    }
    if macro == .document, let type = declaration.types.first(where: { $0.text == "Key" }) {
      fail(
        """
        a type `Key` in a document is taken for the type of the document's key. Give it another name, or \
        declare it elsewhere
        """, at: type.offset)
      return false
    }
    if let inherited = declaration.inheritance.first(where: { $0.text.hasPrefix("~Copyable") }) {
      fail("`@\(name)` needs a struct that can be copied", at: inherited.offset)
      return false
    }
    return true
  }

  static let module = "Larder"

  static let reservedModule =
    "`Larder` is the module, which the macros name in what they write. Give this another name"

  private var conformances: [String] {
    ([macro.rawValue] + (isSearched ? ["Searchable"] : [])).filter { name in
      request.missingConformances.contains { $0 == name || $0.hasSuffix(".\(name)") }
    }
  }

  /// Whether it is a document with a property that is searched.
  private var isSearched: Bool {
    macro == .document && fields.contains { $0.search != nil }
  }

  private var hasOwnSearch: Bool {
    declaration.variables.contains { $0.name.plainName == "search" && $0.hasModifier("static") }
  }

  private var access: String {
    var level = declaration.access
    // An extension says it for those of its members that do not.
    if level == nil, let outer = request.context.first, outer.kind == .extension {
      level = outer.access
    }
    return level.flatMap { ["public", "package"].contains($0) ? "\($0) " : nil } ?? ""
  }

  private var availability: [String] {
    (request.context.reversed() + [declaration]).flatMap(\.attributes).compactMap { attribute in
      guard attribute.name == "available", let arguments = attribute.arguments else { return nil }
      return "@available(\(arguments.text))"
    }
  }

  /// Whether the memberwise initializer exists, and can be called from an extension, whatever
  /// version of Swift made it.
  private var isMemberwise: Bool {
    declaration.initializers.isEmpty
      && declaration.variables.allSatisfy { variable in
        variable.storage == .computed && !variable.hasInitAccessor || variable.hasModifier("static")
          || !(variable.hasInitAccessor || variable.hasModifier("private", "fileprivate")
            || variable.attributes.contains(where: \.mayWrap))
      }
  }

  var hasOwnAccessor: Bool {
    declaration.variables.contains {
      $0.name.plainName == "entityAccessorKey" && !$0.hasModifier("static")
    }
  }
}

extension Declaration {
  /// The modifier that says who sees it; nil where it has none.
  fileprivate var access: String? {
    modifiers.lazy.map(\.text).first {
      ["private", "fileprivate", "internal", "package", "public", "open"].contains($0)
    }
  }
}
