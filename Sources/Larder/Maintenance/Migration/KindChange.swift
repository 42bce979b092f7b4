/// Which fields a migration gives another kind, although their new values, or some of them, could be coerced to the one
/// that they had; and which ones inside of embedded documents, whatever their values are.
struct KindChange: Sendable {
  /// A field of the documents, or one inside of the embedded documents in it.
  private struct Place: Hashable {
    /// The field of the documents.
    let name: String
    /// The table of the embedded documents; nil for the field itself.
    var table: Int?
    /// The field's own name.
    let field: String
  }

  /// What a place holds in the documents that were seen so far.
  private struct Seen {
    /// Whether some document holds a value of the old kind, or new values have no kind in common: nothing changes then.
    var isKept = false
    /// Whether there are values of another kind; and whether such a value stands in the place of one of the old kind.
    /// Values that only replace nil do not change the kind: they are coerced to it.
    var isFilled = false
    var isConverted = false
    /// Whether there are values that cannot be coerced.
    var isUnfit = false
    /// Whether some document has nil in it.
    var isNullable = false
    /// The kinds of the new values.
    var values: InferredShape?

    /// The kind of all values that were seen so far; nil where they have none in common.
    func shape(of field: String) -> InferredShape? {
      guard !isKept, var shape = values else { return nil }
      // Nil goes with every kind.
      if isNullable { try? shape.add([field: .null]) }
      return shape
    }
  }

  private let tables: [FieldTable]
  /// The kinds of the documents' fields that it is about.
  private var kinds: [String: Kind<Int>] = [:]
  private var seen: [Place: Seen] = [:]

  /// - Parameter looksInside: Whether fields of embedded documents are followed, too. What becomes of them is decided
  ///   before the first document of the new version is written, for good: their records name the kinds of all fields
  ///   together.
  init(_ description: CollectionDescription, looksInside: Bool) {
    tables = description.tables
    for field in description.fields.fields where looksInside || !field.kind.holdsDocuments {
      kinds[field.name] = field.kind
    }
  }

  /// Fields that may be given another kind, where what was seen so far does not decide it: ``MigratedShape`` finds
  /// another one for values that cannot be coerced.
  var candidates: Set<String> {
    Set(
      kinds.keys.filter { name in
        if holdsDocuments(name) { return true }
        guard let seen = seen(name) else { return false }
        return seen.isFilled && !seen.isKept && !seen.isUnfit
      })
  }

  var isEmpty: Bool { fields.isEmpty }

  /// The fields whose kind may still change.
  var fields: Set<String> {
    Set(kinds.keys.filter { holdsDocuments($0) || seen($0)?.isKept != true })
  }

  func holdsDocuments(_ name: String) -> Bool { kinds[name]?.holdsDocuments == true }

  private func seen(_ name: String) -> Seen? { seen[Place(name: name, field: name)] }

  /// The kind of all values of a field that were seen so far; nil where they have none in common.
  func shape(of field: String) -> InferredShape? { seen(field)?.shape(of: field) }

  func isMade(of field: String) -> Bool {
    seen(field).map { !$0.isKept && $0.isConverted } ?? false
  }

  /// For each field with embedded documents the kinds of those of their fields that are given another one, by the table
  /// that they have it in.
  ///
  /// Where one type of embedded documents stands in several fields, it changes in those, too, that have no values of the
  /// old kind: the next version of the type declares one kind for all.
  var changesInside: [String: [Int: [String: InferredShape]]] {
    let changed = seen.filter { place, seen in
      place.table != nil && (seen.isConverted || seen.isUnfit)
        && seen.shape(of: place.field) != nil
    }
    var changes: [String: [Int: [String: InferredShape]]] = [:]
    for (place, seen) in changed {
      guard let table = place.table, let shape = seen.shape(of: place.field) else { continue }
      changes[place.name, default: [:]][table, default: [:]][place.field] = shape
      for name in kinds.keys where holdsDocuments(name) {
        let other = Place(name: name, table: table, field: place.field)
        let seen = self.seen[other]
        if changed[other] != nil || seen?.isKept == true { continue }
        changes[name, default: [:]][table, default: [:]][place.field] =
          seen?.shape(of: place.field) ?? shape
      }
    }
    return changes
  }

  mutating func keep(only names: some Sequence<String>) {
    let names = Set(names)
    kinds = kinds.filter { names.contains($0.key) }
    seen = seen.filter { names.contains($0.key.name) }
  }

  /// Takes a document in that the closure has changed.
  mutating func look(at document: MigratingDocument) {
    if document.isDeleted { return }
    for field in document.document.fields {
      guard let kind = kinds[field.name] else { continue }
      look(
        at: field.value, insteadOf: document.stored[field.name], kind,
        in: Place(name: field.name, field: field.name))
    }
  }

  private mutating func look(
    at value: Value, insteadOf old: Value?, _ kind: Kind<Int>, in place: Place
  ) {
    if kind.holdsDocuments {
      return look(into: value, insteadOf: old, kind, place.name)
    }
    var seen = self.seen[place] ?? Seen()
    defer { self.seen[place] = seen }
    if seen.isKept { return }
    if value == .null { seen.isNullable = true }
    switch kind.reads(value) {
    case nil: break
    case true?: seen.isKept = true
    case false?:
      seen.isFilled = true
      if !kind.takes(value) { seen.isUnfit = true }
      if let old, kind.reads(old) == true { seen.isConverted = true }
      do {
        var values = seen.values ?? InferredShape()
        try values.add([place.field: value])
        seen.values = values
      } catch {
        // ``MigratedShape`` says which of them does not fit.
        seen.isKept = true
      }
    }
  }

  /// Takes the embedded documents in, however deep they are in arrays and dictionaries.
  private mutating func look(
    into value: Value, insteadOf old: Value?, _ kind: Kind<Int>, _ name: String
  ) {
    switch (kind.unwrapped, value) {
    case (.document(let table), .document(let document)):
      var before: DynamicDocument?
      if case .document(let old)? = old { before = old }
      for field in document.fields {
        guard let stored = tables[table].field(named: field.name) else { continue }
        look(
          at: field.value, insteadOf: before?[field.name], stored.kind,
          in: Place(name: name, table: table, field: field.name))
      }
    case (.array(let element), .array(let values)), (.set(let element), .array(let values)):
      var before: [Value] = []
      if case .array(let old)? = old { before = old }
      for (index, value) in values.enumerated() {
        let old = index < before.count ? before[index] : nil
        look(into: value, insteadOf: old, element, name)
      }
    case (.dictionary(_, let element), .dictionary(let values)):
      var before: [Value: Value] = [:]
      if case .dictionary(let old)? = old { before = old }
      for (key, value) in values { look(into: value, insteadOf: before[key], element, name) }
    default: break
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
