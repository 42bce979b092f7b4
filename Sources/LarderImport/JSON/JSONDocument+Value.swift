internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Makes documents without a type out of those of a file.
struct DocumentConversion {
  /// What errors call the file.
  let file: String
  let keyField: String
  /// How the keys are encoded, where that is known.
  var keyKind: KeyKind?
  /// Knows which fields the catalogue keeps as real numbers.
  let shape: InferredShape

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
      fields.append(DynamicDocument.Field(member.name, try value(of: member, [member.name])))
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

  private func value(
    of member: JSONMember, _ path: [String]
  ) throws(ImportError) -> Value {
    try value(member.value, path, at: member.position)
  }

  private func value(
    _ value: JSONValue, _ path: @autoclosure () -> [String], at position: TextPosition
  ) throws(ImportError) -> Value {
    switch value {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .number(let text): return try number(text, path(), at: position)
    case .array(let elements):
      let path = path()
      var values: [Value] = []
      values.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        values.append(try self.value(element, path + ["\(index)"], at: position))
      }
      return .array(values)
    case .object(let members):
      let path = path()
      var fields: [DynamicDocument.Field] = []
      fields.reserveCapacity(members.count)
      for member in members {
        let value = try self.value(member.value, path + [member.name], at: member.position)
        fields.append(DynamicDocument.Field(member.name, value))
      }
      return .document(try unique(fields, members))
    }
  }

  /// A number that neither 64 bits nor 17 digits hold: only where the catalogue has a kind for it.
  private func number(
    _ text: String, _ path: [String], at position: TextPosition
  ) throws(ImportError) -> Value {
    switch shape.realKind(at: path) {
    case .decimal?:
      // As many digits as a decimal always holds.
      if text.prefix(while: { $0 != "e" && $0 != "E" }).count(where: \.isNumber) <= 38,
        let decimal = Decimal(string: text), decimal.isFinite
      {
        return .decimal(decimal)
      }
      throw refused(text, at: position, expected: "a number of at most 38 digits")
    case .double?, .float?:
      if let double = Double(text), double.isFinite, double != 0 { return .double(double) }
      throw refused(text, at: position, expected: "a number that a double can hold")
    case nil:
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
