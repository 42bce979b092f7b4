internal import LarderScanner

/// A macro that writes a conformance.
enum DocumentMacro: String {
  case document = "Document"
  case embeddedDocument = "EmbeddedDocument"

  init?(_ attribute: Attribute) {
    guard attribute.qualifier == nil || attribute.qualifier == "Larder" else { return nil }
    self.init(rawValue: attribute.name)
  }

  /// What the macro writes into the body of the type, or behind it.
  ///
  /// The initializer has to be in an extension, where it leaves the memberwise one alone. All else
  /// is in the body: what a property's type and initial value name is found there only.
  func expansion(of request: ExpansionRequest) -> (source: String?, diagnostics: [Diagnostic]) {
    var reading = DocumentReading(request, self)
    let model = reading.read()
    if request.role == "member" { return (model.map(members) ?? "", []) }
    // Told once, though the macro is asked twice.
    return (model.map(extensionSource), reading.diagnostics)
  }
}

/// What the macro writes about a type.
struct DocumentModel {
  struct Field {
    /// With its backticks.
    let property: String
    /// The property's name as a label.
    let label: String
    /// An expression: the stored name.
    let name: String
    let defaultValue: String?
    /// What stands behind `@Indexed`, with its parentheses; nil without that attribute.
    let index: String?
    /// What `searchable(...)` is given behind the path, as it stands behind `@Searchable`; nil without that
    /// attribute.
    let search: String?
    /// The rule that stands behind `@Merge`, such as `.counter`; nil without that attribute.
    let merge: String?
    /// The written type, where an extension of the type finds what it names.
    let type: String?
  }

  struct Key {
    let property: String
    let type: String
  }

  let extendedType: String
  /// `@available(...)`, as the type and those around it have it.
  let availability: [String]
  /// `public` with a space behind it, or nothing.
  let access: String
  /// Whether a property is deprecated. What uses it says the same of itself, or would be warned of it.
  let isDeprecated: Bool
  /// An expression: the collection's name.
  let name: String
  /// The protocols that the type does not say itself that it conforms to.
  let conformances: [String]
  /// Whether the search index is to be written.
  let hasSearch: Bool
  let fields: [Field]
  let key: Key?
  /// Whether the key's accessor is to be written.
  let hasOwnAccessor: Bool
  /// Whether there is a memberwise initializer that may be called.
  let isMemberwise: Bool
}

// MARK: Writing

extension DocumentMacro {
  private func extensionSource(_ model: DocumentModel) -> String {
    let names = model.conformances.map { "nonisolated Larder.\($0)" }.joined(separator: ", ")
    let conformance = names.isEmpty ? "" : ": \(names)"
    let lines =
      model.availability + ["extension \(model.extendedType)\(conformance) {"] + decoder(model)
      + ["}"]
    return lines.joined(separator: "\n")
  }

  private func members(_ model: DocumentModel) -> String {
    var lines = schema(model)
    if let key = model.key, !model.hasOwnAccessor {
      lines += [
        "",
        "\(deprecation(model))\(model.access)nonisolated var entityAccessorKey: \(key.type) "
          + "{ self.\(key.property) }",
      ]
    }
    if model.hasSearch {
      lines += [
        "",
        "\(model.access)nonisolated static let search: Larder.SearchIndex<Self> = Larder.SearchIndex()",
      ]
    }
    return (lines + encoder(model)).joined(separator: "\n")
  }

  private func schema(_ model: DocumentModel) -> [String] {
    let key = model.key.map { " documentKey: \\.\($0.property)," } ?? ""
    var lines = [
      // With its type, which then does not depend on that of a field `schema`.
      "\(deprecation(model))\(model.access)nonisolated static let schema: Larder.Schema<Self> = "
        + "Larder.Schema(",
      "  \(model.name),\(key)",
      "  fields: [",
    ]
    for field in model.fields {
      let value = field.defaultValue.map { ", default: \($0)" } ?? ""
      let index = field.index.map { ".indexed\($0)" } ?? ""
      let search = field.search.map { arguments in
        ".searchable(\\.\(field.property)\(arguments.isEmpty ? "" : ", ")\(arguments))"
      }
      let merge = field.merge.map { ".merged(\\.\(field.property), by: \($0))" } ?? ""
      // An index and a key need the native road, and the compiler says so.
      let isNative =
        field.index != nil || search != nil || field.property == model.key?.property
      lines.append(
        "    Larder.Field(\(isNative ? "" : "stored: ")\(field.name), "
          + "\\.\(field.property)\(value))\(index)\(search ?? "")\(merge),")
    }
    return lines + ["  ])"]
  }

  private func encoder(_ model: DocumentModel) -> [String] {
    var lines = [
      "",
      "\(deprecation(model))\(model.access)nonisolated func encode("
        + "into record: inout Larder.RecordWriter) {",
    ]
    for (number, field) in model.fields.enumerated() {
      lines.append("  record.put(stored: self.\(field.property), at: \(number))")
    }
    return lines + ["}"]
  }

  private func decoder(_ model: DocumentModel) -> [String] {
    var lines = [
      "  \(deprecation(model))\(model.access)nonisolated init("
        + "from record: borrowing Larder.RecordReader) "
        + "throws(Larder.RecordError) {"
    ]
    let values = model.fields.enumerated().map { number, field in
      "try record.get(stored: \(number)\(field.type.map { ", as: \(metatype($0))" } ?? ""))"
    }
    if model.isMemberwise {
      let arguments = zip(model.fields, values).map { "      \($0.label): \($1)" }
      lines.append("    self.init(")
      lines.append(arguments.joined(separator: ",\n"))
      lines.append("    )")
    } else {
      lines += zip(model.fields, values).map { "    self.\($0.property) = \($1)" }
    }
    return lines + ["  }"]
  }

  private func deprecation(_ model: DocumentModel) -> String {
    model.isDeprecated ? "@available(*, deprecated) " : ""
  }

  private func metatype(_ type: String) -> String {
    type.contains { $0.isWhitespace || "&>".contains($0) } ? "(\(type)).self" : "\(type).self"
  }
}
