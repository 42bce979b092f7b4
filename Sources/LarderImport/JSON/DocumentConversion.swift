internal import Larder

/// Makes documents without a type out of those of a file.
struct DocumentConversion {
  /// What errors call the file.
  let file: String
  let keyField: String
  /// How the keys are encoded, where that is known.
  var keyKind: KeyKind?
  /// What the catalogue knows of the documents.
  let place: FieldPlace?

  /// The document with its key in its key field.
  ///
  /// - Throws: ``ImportError`` for a document without a key, names that are equal once normalised,
  ///   and numbers that would lose digits.
  func document(_ document: JSONDocument) throws(ImportError) -> DynamicDocument {
    var fields: [DynamicDocument.Field] = []
    fields.reserveCapacity(document.members.count + 1)
    if !document.members.contains(where: { $0.name == keyField }) {
      fields.append(DynamicDocument.Field(keyField, try outerKey(of: document)))
    }
    for member in document.members {
      fields.append(
        DynamicDocument.Field(
          member.name, try value(member.value, place?.member(member.name), at: member.position)))
    }
    return try unique(fields, document.members)
  }

  private func outerKey(of document: JSONDocument) throws(ImportError) -> Value {
    guard let text = document.key else {
      throw ImportError(
        .value, file: file, position: document.position, found: "no \(quoted(keyField))",
        expected: "it in every document, for it is the key")
    }
    guard let keyKind else { return .string(text) }
    guard let key = Value(keyText: text, kind: keyKind) else {
      throw ImportError(
        .value, file: file, position: document.position,
        found: "a document under the key \(quoted(text))", expected: "a key that is \(keyKind)")
    }
    return key
  }

  /// - Parameter place: What the catalogue knows of where the value stands; asked only of values
  ///   that it makes something else of.
  func value(
    _ value: JSONValue, _ place: @autoclosure () -> FieldPlace?, at position: TextPosition
  ) throws(ImportError) -> Value {
    switch value {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .double(let value): return .double(value)
    case .string(let value):
      return place().flatMap { ValueText.value(value, as: $0.kind) } ?? .string(value)
    case .number(let text): return try number(text, place()?.kind, at: position)
    case .array(let elements):
      let element = place()?.element
      var values: [Value] = []
      values.reserveCapacity(elements.count)
      for value in elements { values.append(try self.value(value, element, at: position)) }
      return .array(values)
    case .object(let members):
      let place = place()
      var fields: [DynamicDocument.Field] = []
      fields.reserveCapacity(members.count)
      for member in members {
        let value = try self.value(
          member.value, place?.member(member.name), at: member.position)
        fields.append(DynamicDocument.Field(member.name, value))
      }
      return .document(try unique(fields, members))
    }
  }

  /// A number that neither 64 bits nor 17 digits hold: only where the catalogue has a kind for it.
  private func number(
    _ text: String, _ kind: Kind<Int>?, at position: TextPosition
  ) throws(ImportError) -> Value {
    switch kind {
    case .decimal?:
      if let decimal = ValueText.value(text, as: .decimal) { return decimal }
      throw refused(text, at: position, expected: "a number of at most 38 digits")
    case .double?, .float?:
      if let double = Double(text), double.isFinite, double != 0 { return .double(double) }
      throw refused(text, at: position, expected: "a number that a double can hold")
    default:
      throw refused(
        text, at: position,
        expected: "an integer of 64 bits, or a number of at most 17 digits that a double can hold; "
          + "others are kept in text, or in a field that a type declares a decimal or double")
    }
  }

  private func refused(
    _ text: String, at position: TextPosition, expected: String
  ) -> ImportError {
    ImportError(
      .value, file: file, position: position, found: "the number \(quoted(text))",
      expected: expected)
  }

  /// The document, whose names must differ as Swift compares them, too: the catalogue finds fields
  /// so.
  private func unique(
    _ fields: [DynamicDocument.Field], _ members: [JSONMember]
  ) throws(ImportError) -> DynamicDocument {
    let document = DynamicDocument(fields)
    guard document.fields.count < fields.count else { return document }
    var seen: Set<String> = []
    let second = members.first { !seen.insert($0.name).inserted }
    throw ImportError(
      .duplicateKey, file: file, position: second?.position,
      found: "\(quoted(second?.name ?? "")) a second time, in another Unicode normalisation",
      expected: "every name once")
  }
}
