/// Which fields a migration gives another kind, although their new values, or some of them, could be coerced to the one
/// that they had.
struct KindChange: Sendable {
  /// The old kinds of the fields in which no document seen so far holds a value of that kind any more.
  private var kinds: [String: Kind<Int>] = [:]
  /// Fields with values of another kind; and those of them where such a value stands in the place of one of the old
  /// kind. What only fills in for nil is coerced.
  private var filled: Set<String> = []
  private var converted: Set<String> = []
  /// Fields with values that cannot be coerced.
  private var unfit: Set<String> = []
  /// The kinds of the new values, by field; and the fields that are nil in some documents.
  private var shapes: [String: InferredShape] = [:]
  private var nullable: Set<String> = []

  init(fields: FieldTable) {
    for field in fields.fields { kinds[field.name] = field.kind }
  }

  /// Fields that may be given another kind, where what was seen so far does not decide it: ``MigratedShape`` finds
  /// another one for values that cannot be coerced.
  var candidates: Set<String> { filled.filter { kinds[$0] != nil && !unfit.contains($0) } }

  var isEmpty: Bool { kinds.isEmpty }

  /// The fields whose kind may still change.
  var fields: Set<String> { Set(kinds.keys) }

  /// The kind of all values of a field that were seen so far; nil where they have none in common.
  func shape(of field: String) -> InferredShape? {
    guard kinds[field] != nil, var shape = shapes[field] else { return nil }
    // Nil goes with every kind.
    if nullable.contains(field) { try? shape.add([field: .null]) }
    return shape
  }

  func isMade(of field: String) -> Bool { kinds[field] != nil && converted.contains(field) }

  mutating func keep(only names: some Sequence<String>) {
    let names = Set(names)
    kinds = kinds.filter { names.contains($0.key) }
  }

  /// Takes a document in that the closure has changed.
  mutating func look(at document: MigratingDocument) {
    if document.isDeleted { return }
    for field in document.document.fields {
      guard let kind = kinds[field.name] else { continue }
      if field.value == .null { nullable.insert(field.name) }
      switch kind.reads(field.value) {
      case nil: break
      case true?: kinds[field.name] = nil
      case false?:
        filled.insert(field.name)
        if !kind.takes(field.value) { unfit.insert(field.name) }
        if let old = document.stored[field.name], kind.reads(old) == true {
          converted.insert(field.name)
        }
        do {
          try shapes[field.name, default: InferredShape()].add([field.name: field.value])
        } catch {
          // ``MigratedShape`` says which of them does not fit.
          kinds[field.name] = nil
        }
      }
    }
  }
}

extension Kind where Reference == Int {
  /// Whether this is how a value of this kind is read; nil for one that says nothing of it.
  fileprivate func reads(_ value: Value) -> Bool? {
    switch (self, value) {
    case (_, .null): nil
    case (.bool, .bool), (.integer, .integer), (.integer, .unsigned), (.float, .double),
      (.double, .double), (.string, .string), (.data, .data), (.date, .date), (.uuid, .uuid),
      (.url, .url), (.decimal, .decimal):
      true
    case (.bool, _), (.integer, _), (.float, _), (.double, _), (.string, _), (.data, _), (.date, _),
      (.uuid, _), (.url, _), (.decimal, _):
      false
    case (.optional(let inner), _): inner.isOptional ? true : inner.reads(value)
    case (.array(let element), .array(let values)), (.set(let element), .array(let values)):
      element.reads(anyOf: values)
    case (.dictionary(_, let element), .dictionary(let values)):
      element.reads(anyOf: values.values)
    // The fields of an embedded document keep their kinds.
    default: true
    }
  }

  /// Whether a value of another kind can be coerced to this one, or what is in it.
  fileprivate func takes(_ value: Value) -> Bool {
    switch (unwrapped, value) {
    case (_, .null): true
    case (.array(let element), .array(let values)), (.set(let element), .array(let values)):
      values.allSatisfy { element.takes($0) }
    case (.dictionary(_, let element), .dictionary(let values)):
      values.values.allSatisfy { element.takes($0) }
    case (let kind, _): kind.reads(value) == true || value.coerced(to: kind) != nil
    }
  }

  private func reads(anyOf values: some Sequence<Value>) -> Bool? {
    var isRead: Bool?
    for value in values {
      guard let found = reads(value) else { continue }
      if found { return true }
      isRead = false
    }
    return isRead
  }
}
