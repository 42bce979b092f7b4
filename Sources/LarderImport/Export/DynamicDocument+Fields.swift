package import Larder

extension DynamicDocument {
  /// The value down `path`; nil where the document lacks it, and `null` inside of nil.
  ///
  /// - Parameter next: Where the field of the document is looked for first; behind it afterwards.
  package func value(at path: FieldPath, from next: inout Int) -> Value? {
    let name = path.names[0]
    let index =
      next < fields.count && fields[next].name == name
      ? next : fields.firstIndex { $0.name == name }
    guard let index else { return nil }
    next = index + 1
    var value = fields[index].value
    for name in path.names.dropFirst() {
      switch value {
      case .null: return .null
      case .document(let document):
        guard let inner = document[name] else { return nil }
        value = inner
      case .dictionary(let pairs):
        guard let inner = pairs[.string(name)] else { return nil }
        value = inner
      default: return nil
      }
    }
    return value
  }

  /// The document with these fields alone, embedded documents around those inside of some.
  package func only(_ paths: [FieldPath]) -> DynamicDocument {
    var result = DynamicDocument()
    for path in paths { result.take(path.names[...], from: self) }
    return result
  }

  private mutating func take(_ path: ArraySlice<String>, from source: DynamicDocument) {
    guard let name = path.first, let value = source[name] else { return }
    let rest = path.dropFirst()
    var members: DynamicDocument?
    switch value {
    case _ where rest.isEmpty: self[name] = value
    case .document(let document): members = document
    case .dictionary(let pairs):
      members = DynamicDocument(
        rest.prefix(1).compactMap { name in
          pairs[.string(name)].map { Field(name, $0) }
        })
    case .null: self[name] = .null
    default: break
    }
    guard let members else { return }
    var inner = DynamicDocument()
    if case .document(let taken)? = self[name] { inner = taken }
    inner.take(rest, from: members)
    self[name] = .document(inner)
  }
}
