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
  /// The kinds that the caller gives to fields.
  var rules: KindRules?
  /// Whether documents get new keys.
  var makesKeys = false
  /// Whether the documents only show what their fields hold. `-0` is then an integer, to be one among integers;
  /// otherwise it is the double, which is 0 in a field of integers.
  private let isRehearsal: Bool
  /// Whether some numbers are to be floats, which hold fewer digits than a double.
  private let hasFloats: Bool

  init(
    file: String, keyField: String, keyKind: KeyKind?, place: FieldPlace?,
    rules: KindRules? = nil, makesKeys: Bool = false, isRehearsal: Bool = false
  ) {
    self.file = file
    self.keyField = keyField
    self.keyKind = keyKind
    self.place = place
    self.rules = rules
    self.makesKeys = makesKeys
    self.isRehearsal = isRehearsal
    hasFloats = place?.holdsFloats == true
  }

  /// The document with its key in its key field.
  ///
  /// - Throws: ``ImportError`` for a document without a key, names that are equal once normalised,
  ///   and numbers that would lose digits.
  func document(_ document: JSONDocument) throws(ImportError) -> DynamicDocument {
    var fields: [DynamicDocument.Field] = []
    let ownKey = document.members.first { $0.name == keyField }
    if let ownKey, makesKeys {
      throw ImportError(
        .value, file: file, position: ownKey.position, found: "a field \(quoted(keyField))",
        expected: "none of that name, for the keys that are made stand in it")
    }
    if let ownKey, ownKey.value == .minusZero {
      throw refused("-0", at: ownKey.position, expected: "a key: text, an integer or a UUID")
    }
    if ownKey == nil {
      let key = makesKeys ? .uuid(.timeOrdered()) : try outerKey(of: document)
      fields.append(DynamicDocument.Field(keyField, key))
    }
    return try object(document.members, behind: fields, place, rules)
  }

  private func outerKey(of document: JSONDocument) throws(ImportError) -> Value {
    guard let text = document.key else {
      var error = ImportError(
        .value, file: file, position: document.position, found: "no \(quoted(keyField))",
        expected: "it in every document, for it is the key")
      error.reason = .noKeyField
      throw error
    }
    guard let keyKind else { return .string(text) }
    guard let key = Value(writtenKey: text, kind: keyKind) else {
      throw ImportError(
        .value, file: file, position: document.position,
        found: "a document under the key \(quoted(text))", expected: "a key that is \(keyKind)")
    }
    return key
  }

  /// - Parameter place: What the catalogue knows of where the value stands; asked only of values
  ///   that it makes something else of.
  func value(
    _ value: JSONValue, _ place: @autoclosure () -> FieldPlace?, _ rules: KindRules?,
    at position: TextPosition
  ) throws(ImportError) -> Value {
    switch value {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .double(let value):
      if hasFloats, place()?.kind == .float, !Float.keepsDigits(of: value) {
        throw refused(
          "\(value)", at: position, expected: "a number of which a float keeps every digit")
      }
      return .double(value)
    case .string(let value):
      return (rules?.kind ?? place()?.kind).flatMap { ValueText.value(value, as: $0) }
        ?? .string(value)
    case .minusZero: return isRehearsal ? .integer(0) : .double(-0.0)
    case .number(let text): return try number(text, rules?.kind ?? place()?.kind, at: position)
    case .array(let elements):
      let element = place()?.anyElement
      var values: [Value] = []
      values.reserveCapacity(elements.count)
      for value in elements { values.append(try self.value(value, element, rules, at: position)) }
      return .array(values)
    case .object(let members):
      let place = place()
      if members.count == 1, let tag = TaggedValue.Tag(name: members[0].name),
        let value = try tagged(tag, members[0], place, rules)
      {
        return value
      }
      return .document(try object(members, place, rules))
    }
  }

  /// - Parameter first: Fields that stand before those of the members.
  private func object(
    _ members: [JSONMember], behind first: [DynamicDocument.Field] = [], _ place: FieldPlace?,
    _ rules: KindRules?
  ) throws(ImportError) -> DynamicDocument {
    var fields = first
    fields.reserveCapacity(first.count + members.count)
    for member in members {
      let value = try value(
        member.value, place?.anyMember(member.name), rules?.member(member.name),
        at: member.position)
      fields.append(DynamicDocument.Field(member.name, value))
    }
    return try unique(fields, members)
  }

  /// What an object that looks like a tagged value means; nil where it is what it looks like.
  private func tagged(
    _ tag: TaggedValue.Tag, _ member: JSONMember, _ place: FieldPlace?, _ rules: KindRules?
  ) throws(ImportError) -> Value? {
    switch (tag, member.value) {
    case (.object, .object(let members)):
      guard members.count == 1, TaggedValue.Tag(name: members[0].name) != nil else { return nil }
      return .document(try object(members, place, rules))
    case (_, let value) where place?.takes(tag, ofArray: value.isArray) == false: return nil
    case (.dictionary, .array(let pairs)): return try dictionary(pairs, place, at: member.position)
    case (_, .string(let text)): return TaggedValue.value(tag, text)
    default: return nil
    }
  }

  private func dictionary(
    _ pairs: [JSONValue], _ place: FieldPlace?, at position: TextPosition
  ) throws(ImportError) -> Value? {
    var values: [Value: Value] = [:]
    for pair in pairs {
      guard case .array(let pair) = pair, pair.count == 2 else { return nil }
      let key = try value(pair[0], place, nil, at: position)
      guard values.updateValue(try value(pair[1], place, nil, at: position), forKey: key) == nil
      else { return nil }
    }
    return .dictionary(values)
  }

  /// A number of more than 15 digits with a point or an exponent, or an integer of more than 64 bits. It is taken
  /// where the catalogue or the caller has a decimal for it, or where the nearest double has all its digits.
  private func number(
    _ text: String, _ kind: Kind<Int>?, at position: TextPosition
  ) throws(ImportError) -> Value {
    if kind == .decimal {
      if let decimal = ValueText.value(text, as: .decimal) { return decimal }
      throw refused(text, at: position, expected: "a number of at most 38 digits")
    }
    if let double = Double(text), double.isFinite, double != 0, double.keepsDigits(of: text),
      kind != .float || Float.keepsDigits(of: double)
    {
      return .double(double)
    }
    throw refused(
      text, at: position,
      expected: kind == .double || kind == .float
        ? "a number of which a \(kind.map { "\($0)" } ?? "") keeps every digit"
        : "an integer of 64 bits, or a number of which a double keeps every digit; a decimal "
          + "(`--types NAME=decimal`) keeps 38")
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

extension JSONValue {
  fileprivate var isArray: Bool { if case .array = self { true } else { false } }
}
