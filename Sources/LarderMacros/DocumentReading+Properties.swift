internal import LarderScanner

// MARK: Properties

extension DocumentReading {
  mutating func read(_ variable: Variable) {
    let attributes = variable.attributes.filter { FieldAttribute($0) != nil }
    let marks = attributes.compactMap { FieldAttribute($0) }
    let name = variable.name.plainName
    if let attribute = attributes.first, let reason = variable.reasonNotStored {
      return fail(
        "`@\(attribute.name)` belongs in front of a stored property, and `\(name)` is \(reason)",
        at: attribute.offset)
    }
    guard variable.reasonNotStored == nil else { return }
    if let second = attributes.indices.first(where: { marks[..<$0].contains(marks[$0]) }) {
      return fail(
        "`\(name)` is marked `@\(attributes[second].name)` twice. Leave one of them",
        at: attributes[second].offset)
    }
    if name == Self.module {
      return fail(Self.reservedModule, at: variable.name.offset)
    }
    if marks.contains(.transient) { return readTransient(variable, attributes) }
    if variable.isPattern {
      return fail(
        "`@\(macro.rawValue)` stores no tuples: write a `var` for each of \(variable.name.text)",
        at: variable.name.offset)
    }
    if variable.condition != nil {
      return fail(
        """
        `\(name)` stands in `#if`, and a record's fields are the same in all builds. Declare it \
        in all of them, mark it `@Transient`, or conform to `\(macro.rawValue)` by hand
        """, at: variable.name.offset)
    }
    if variable.isLet, variable.initialValue != nil {
      return fail(
        """
        `\(name)` is a `let` with an initial value, which a record could not replace. Write \
        `var \(variable.name.text)`, or mark it `@Transient` to leave it out
        """, at: variable.name.offset)
    }
    if marks.contains(.key) || marks.contains(.indexed), macro == .embeddedDocument {
      return readEmbedded(attributes)
    }
    if marks.contains(.key) { keys.append(variable) }
    addField(variable, attributes)
  }

  private mutating func readTransient(_ variable: Variable, _ attributes: [Attribute]) {
    let name = variable.name.plainName
    if let other = attributes.first(where: { FieldAttribute($0) != .transient }) {
      fail(
        "`\(name)` is `@Transient`, and what is not stored cannot be `@\(other.name)`",
        at: other.offset)
    } else if variable.initialValue == nil, !variable.isNilAtFirst,
      !variable.attributes.contains(where: \.mayWrap)
    {
      fail(
        """
        `\(name)` is `@Transient` and needs an initial value, which it has after reading: \
        `var \(variable.name.text)\(variable.type.map { ": \($0.text)" } ?? "") = ...`
        """, at: variable.name.offset)
    }
  }

  private mutating func readEmbedded(_ attributes: [Attribute]) {
    for attribute in attributes {
      switch FieldAttribute(attribute) {
      case .key:
        fail(
          """
          an embedded document has no key. Write `@Document` if `\(declaration.name.text)` is \
          to be stored on its own
          """, at: attribute.offset)
      case .indexed:
        fail(
          """
          a field of an embedded document is indexed by the document around it: \
          `static let indexes: [Index<...>] = [Index(\\.field.inner)]`
          """, at: attribute.offset)
      default: break
      }
    }
  }

  private mutating func addField(_ variable: Variable, _ attributes: [Attribute]) {
    let stored = attributes.first { FieldAttribute($0) == .stored }
    let name = writtenName(in: stored) ?? literal(variable.name.plainName)
    if let other = names.updateValue(variable, forKey: name) {
      let place = stored?.offset ?? variable.name.offset
      fail(
        """
        `\(variable.name.plainName)` and `\(other.name.plainName)` are both stored as \(name). \
        Give one another name: `@Stored(as: "...")`
        """, at: place, note: "the other one is here", noteAt: other.name.offset)
    }
    let indexed = attributes.first { FieldAttribute($0) == .indexed }
    let searchable = attributes.first { FieldAttribute($0) == .searchable }
    if let weight = searchable?.argument, let number = Int(weight.text), !(1...100 ~= number) {
      fail("a weight is from 1 to 100", at: weight.offset)
    }
    let defaultValue = variable.initialValue?.text
    fields.append(
      DocumentModel.Field(
        property: variable.name.text, label: Self.label(variable.name), name: name,
        // What is nil needs no default to be so.
        defaultValue: defaultValue == "nil" ? nil : defaultValue.map(Self.expression),
        index: indexed.map { "(\($0.arguments?.text ?? ""))" },
        search: searchable.map { $0.arguments?.text ?? "" },
        merge: mergeRule(of: variable, attributes),
        type: request.context.isEmpty ? variable.type.map(\.text).map(Self.unwrapping) : nil))
  }

  /// The name as it labels an argument. Only one keyword needs backticks there, and what is no name
  /// without them.
  private static func label(_ name: Fragment) -> String {
    let plain = name.plainName
    let isName =
      plain.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
      && plain.unicodeScalars.first.map { $0 == "_" || $0.properties.isXIDStart } == true
    return isName && plain != "inout" ? plain : name.text
  }

  /// An initial value as it can stand in a call: `if` and `switch` cannot.
  private static func expression(_ text: String) -> String {
    let word = text.prefix { $0.isLetter }
    return ["if", "switch", "do"].contains(word) ? "{ \(text) }()" : text
  }

  /// `T?` for `T!`.
  private static func unwrapping(_ type: String) -> String {
    type.hasSuffix("!") ? String(type.dropLast()) + "?" : type
  }

  /// The name on disk that `@Document(as:)` or `@Stored(as:)` gives; nil without one.
  mutating func writtenName(in attribute: Attribute?) -> String? {
    guard let name = attribute?.argument, name.text != "nil" else { return nil }
    guard name.text.first == "\"" || name.text.first == "#" else {
      fail("the name on disk has to stand here as a text in quotation marks", at: name.offset)
      return nil
    }
    return Self.withoutHashes(name.text)
  }

  /// `"a"` for `#"a"#`: two names are compared as they are written.
  private static func withoutHashes(_ text: String) -> String {
    guard text.first == "#" else { return text }
    let inner = text.drop { $0 == "#" }
    let count = text.count - inner.count
    let plain = inner.dropFirst().dropLast(count + 1)
    // Whatever stands for something else stays as it is written.
    return plain.contains { "\\\"\n".contains($0) } ? text : "\"\(plain)\""
  }

  func literal(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
  }
}

// MARK: The key

extension DocumentReading {
  mutating func readKey() -> DocumentModel.Key? {
    guard macro == .document else { return nil }
    for other in keys.dropFirst() {
      fail(
        "`\(declaration.name.text)` has two keys. Leave `@Key` at one of them",
        at: other.name.offset,
        note: "the other one is here", noteAt: keys[0].name.offset)
    }
    guard let key = keys.first ?? storedID else {
      if !hasOwnAccessor, diagnostics.isEmpty {
        fail(
          """
          `\(declaration.name.text)` has no key. Mark the property that identifies it with `@Key`, \
          name it `id`, or write `@EmbeddedDocument` if it is only stored inside other documents
          """, at: declaration.name.offset)
      }
      return nil
    }
    guard let type = key.knownType, !key.isTypeOfMember || Self.isKey(type) else {
      fail(
        "the type of the key cannot be seen here. Write it: `\(key.name.text): String`",
        at: key.name.offset)
      return nil
    }
    if key.isOptional(type) {
      fail("a key cannot be nil. Write its type without the optional", at: key.name.offset)
    } else if Self.isNoKey(type) {
      fail(
        """
        a `\(type)` cannot be a key: a key is a `String`, an integer or a `UUID`, or an enum or struct \
        with such a raw value that is declared `Storable` and `DocumentKey`. Give `\(key.name.plainName)` such a \
        type, or mark another property with `@Key`
        """, at: key.name.offset)
    }
    if let merge = key.attributes.first(where: { FieldAttribute($0) == .merge }) {
      fail(
        """
        `\(key.name.plainName)` is the key, which is the same on all devices and never merged. Take \
        `@Merge` away
        """, at: merge.offset)
    }
    // A record without its key is damaged, whatever a new document's key is at first.
    fields = fields.map { field in
      guard field.property == key.name.text else { return field }
      return DocumentModel.Field(
        property: field.property, label: field.label, name: field.name, defaultValue: nil,
        index: field.index,
        search: field.search, merge: nil, type: field.type)
    }
    return DocumentModel.Key(property: key.name.text, type: type)
  }

  /// The property `id`, where it is the key without being marked: an accessor of the type's own may return
  /// anything else.
  private var storedID: Variable? {
    if hasOwnAccessor { return nil }
    let isStored = Set(fields.map(\.property))
    return declaration.variables.first {
      $0.name.plainName == "id" && isStored.contains($0.name.text) && !$0.hasModifier("static")
    }
  }
}

extension DocumentReading {
  /// Whether a written type is one of those that are fields and can be no key. Of others the compiler
  /// knows it.
  private static func isNoKey(_ type: String) -> Bool {
    var name = type
    for module in ["Swift.", "Foundation."] where name.hasPrefix(module) {
      name = String(name.dropFirst(module.count))
    }
    return type.hasPrefix("[") || type.hasPrefix("Set<") || type.hasPrefix("Dictionary<")
      || ["Double", "Float", "Bool", "Date", "Data", "Decimal", "URL"].contains(name)
  }
}

extension DocumentReading {
  /// Whether it is a type of the standard library or of Foundation that a key may have.
  private static func isKey(_ type: String) -> Bool {
    let sizes = ["", "8", "16", "32", "64"]
    return type == "String" || type == "UUID"
      || sizes.contains { type == "Int\($0)" || type == "UInt\($0)" }
  }
}

// MARK: What a property is

extension Variable {
  /// What keeps it out of a record; nil for a stored property of each value.
  fileprivate var reasonNotStored: String? {
    if hasModifier("static", "class") { return "static" }
    if storage == .computed { return "computed" }
    if hasModifier("lazy") { return "lazy" }
    return nil
  }

  /// Whether Swift gives it nil without being told.
  fileprivate var isNilAtFirst: Bool {
    guard !isLet, let type else { return false }
    return isOptional(type.text)
  }

  /// Whether uses of it are told of, those that a macro writes too.
  var isDeprecated: Bool {
    attributes.contains {
      $0.name == "available" && $0.arguments?.text.contains("deprecated") == true
    }
  }

  fileprivate func isOptional(_ type: String) -> Bool {
    type.hasSuffix("?") || type.hasSuffix("!") || type.hasPrefix("Optional<")
  }
}

extension Attribute {
  /// Whether it may be a property wrapper: only Swift's own attributes begin with a small letter.
  var mayWrap: Bool {
    FieldAttribute(self) == nil && name.first?.isUppercase == true && name != "MainActor"
  }
}
