// What conditions are told by a schema: the way to a field, and values as conditions hold them.

extension Schema {
  /// The step to a stored field; nil where only the decoded document knows the value: a property that
  /// is computed, and an array of embedded documents whose default is not empty.
  func step(to path: PartialKeyPath<Owner>) -> FieldStep? {
    guard let name = name(of: path), let field = fields.first(where: { $0.name == name }) else {
      return nil
    }
    if let value = field.defaultValue, Value(comparing: value) == nil { return nil }
    return FieldStep(field)
  }

  /// The way down to a stored field, of this document or of one embedded in it; nil where the value
  /// has to be computed, and for paths that go through `?.`.
  func path(to path: PartialKeyPath<Owner>) -> [FieldStep]? {
    if let step = step(to: path) { return [step] }
    return innerPath(to: path)
  }
}

extension EmbeddedDocument {
  /// What is found behind `outer`, a path that leads to a document of this type.
  fileprivate static func path<Root>(
    to path: PartialKeyPath<Root>, behind outer: PartialKeyPath<Root>, depth: Int
  ) -> [FieldStep]? {
    for inner in schema.paths {
      guard let whole = outer.appending(path: inner), let step = schema.step(to: inner) else {
        continue
      }
      if whole == path { return [step] }
      guard depth < RecordFormat.maximumDepth, case .document = step.kind,
        let type = type(of: inner).valueType as? any EmbeddedDocument.Type,
        let rest = type.path(to: path, behind: whole, depth: depth + 1)
      else { continue }
      return [step].appending(rest)
    }
    return nil
  }
}

extension Schema {
  private func innerPath(to path: PartialKeyPath<Owner>) -> [FieldStep]? {
    for outer in paths {
      guard let step = step(to: outer), case .document = step.kind,
        let type = type(of: outer).valueType as? any EmbeddedDocument.Type,
        let rest = type.path(to: path, behind: outer, depth: 0)
      else { continue }
      return [step].appending(rest)
    }
    return nil
  }
}

extension FieldDescription {
  /// What a record that lacks the field has instead; nil where that is an error.
  var absentValue: Value? {
    if let defaultValue { return Value(comparing: defaultValue) ?? .array([]) }
    return kind.isOptional ? .null : nil
  }

  /// The same, made once more; nil where it cannot be another one.
  var secondAbsentValue: Value? { secondDefaultValue.flatMap { Value(comparing: $0) } }
}

extension EmbeddedDocument {
  /// The fields that conditions can name. Without those of which only the decoded document can be asked.
  fileprivate var comparable: DynamicDocument {
    var document = DynamicDocument()
    for path in Self.schema.paths {
      guard let name = Self.schema.name(of: path), let value = self[keyPath: path] as? any Storable
      else { continue }
      document[name] = Value(comparing: value)
    }
    return document
  }
}

extension Value {
  /// A default as conditions look at it: an embedded document with its fields, and of an array of these
  /// only that it is empty. Nil where that is not all that a condition may ask.
  init?(comparing value: some Storable) {
    let kind = type(of: value)._kind
    guard kind.holdsDocuments else {
      self.init(storing: value)
      return
    }
    if let document = value as? any EmbeddedDocument {
      self = .document(document.comparable)
    } else if let elements = value as? any Swift.Collection {
      guard elements.isEmpty else { return nil }
      self = .array([])
    } else if kind.isOptional {
      self = .null  // One that is not nil is one of these.
    } else {
      return nil
    }
  }
}
