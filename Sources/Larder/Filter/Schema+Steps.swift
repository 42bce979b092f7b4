// What conditions are told by a schema: the way to a field, and values as conditions hold them.

extension Schema {
  /// The step to a stored field; nil for a property that has to be computed, and for embedded
  /// documents with a default, whose fields only the decoded document has.
  func step(to path: PartialKeyPath<Owner>) -> FieldStep? {
    guard let name = name(of: path), let field = fields.first(where: { $0.name == name }) else {
      return nil
    }
    if case .document = field.kind.unwrapped, field.defaultValue != nil { return nil }
    // The elements of such a default are not known below.
    if field.kind.holdsDocuments, let value = field.defaultValue as? any Swift.Collection,
      !value.isEmpty
    {
      return nil
    }
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
      return [step] + rest
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
      return [step] + rest
    }
    return nil
  }
}

extension FieldDescription {
  /// What a record that lacks the field has instead; nil where that is an error.
  var absentValue: Value? {
    // Documents are not compared: that the value is not nil is all that a condition can ask.
    if let defaultValue { return kind.holdsDocuments ? .array([]) : Value(storing: defaultValue) }
    return kind.isOptional ? .null : nil
  }
}

extension Value {
  /// The value of a scalar, or of an array, a set or a dictionary of these.
  init(storing value: some Storable) {
    switch value {
    case let value as String: self = .string(value)
    case let value as Int: self = .integer(Int64(value))
    case let value as Double: self = .double(value)
    case let value as Bool: self = .bool(value)
    default: self = Value(encoding: value)
    }
  }

  private init(encoding value: some Storable) {
    precondition(
      !type(of: value).kind.holdsDocuments,
      "\(type(of: value)) holds embedded documents, which are not compared: compare their fields")
    var writer = RecordWriter(binding: .none, capacity: 64)
    value.store(into: &writer)
    self = writer.withBytes { bytes in
      guard let start = bytes.baseAddress else { return .null }
      var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
      do {
        return try reader.value()
      } catch {
        preconditionFailure("\(type(of: value)) wrote bytes that cannot be read: \(error)")
      }
    }
  }
}
