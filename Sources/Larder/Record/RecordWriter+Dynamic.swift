#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A value that does not fit the kind of its field.
struct CoercionError: Error {
  /// Names of the fields down to the value.
  var path: [String]
  let found: String
  let expected: String
}

extension RecordWriter {
  /// Writes a document without its Swift type, as an outermost record.
  ///
  /// Every field must be in the catalogue already; values are coerced to the catalogue's kinds.
  ///
  /// - Parameter table: Another than the documents' own, for one that is still to be migrated.
  /// - Returns: The range of the record, as ``endDocument(key:)`` does.
  /// - Throws: ``CoercionError`` for a value that does not fit and for a required field that is
  ///   missing; ``RecordError`` for what cannot be written. The bytes then must not be used.
  mutating func putDocument(
    _ document: DynamicDocument, table: Int? = nil, key: UnsafeRawBufferPointer
  ) throws -> Range<Int> {
    let table = table ?? binding.collection.documentTable
    _ = beginTable(table)
    try putFields(of: document, table: table, nesting: 0)
    return try endDocument(key: key)
  }

  private mutating func beginTable(_ table: Int) -> Frame {
    begin(Frame(table: table, slotCount: binding.collection.tables[table].fields.count))
  }

  private mutating func putFields(
    of document: DynamicDocument, table number: Int, nesting: Int
  ) throws(CoercionError) {
    let table = binding.collection.tables[number]
    var present = 0
    for field in document.fields {
      guard let slot = table.slot(of: field.name) else {
        throw CoercionError(
          path: [field.name], found: "a field", expected: "none of this name")
      }
      beginValue(slot: slot)
      if table[slot].isRequired { present += 1 }
      do {
        try put(field.value, as: table[slot].kind, nesting: nesting)
      } catch {
        throw CoercionError(
          path: [field.name] + error.path, found: error.found, expected: error.expected)
      }
    }
    if !isRehearsing, !mayLackFields, present < table.fields.count(where: \.isRequired),
      let missing = table.fields.first(where: { $0.isRequired && document[$0.name] == nil })
    {
      throw CoercionError(
        path: [missing.name], found: StoreError.nothing, expected: "\(missing.kind)")
    }
  }

  /// - Parameter nesting: How many values this one is inside of.
  private mutating func put(
    _ value: Value, as kind: Kind<Int>, nesting: Int
  ) throws(CoercionError) {
    guard nesting < RecordFormat.maximumNesting else {
      failure = .tooDeep
      return putNil()
    }
    switch (kind, value) {
    case (.any, _): putNatural(value, nesting: nesting)
    case (.optional, .null): putNil()
    case (.optional(let inner), _):
      guard inner.isOptional, inner != .any else {
        return try put(value, as: inner, nesting: nesting)
      }
      putArray(count: 1)
      // As it is read: an array of one. Any other value stands for itself.
      if case .array(let level) = value, level.count == 1 {
        try put(level[0], as: inner, at: "0", nesting: nesting + 1)
      } else {
        try put(value, as: inner, nesting: nesting + 1)
      }
    case (.array(let element), .array(let values)):
      putArray(count: values.count)
      for (index, value) in values.enumerated() {
        try put(value, as: element, at: "\(index)", nesting: nesting + 1)
      }
    case (.set(let element), .array(let values)):
      // Coerced first: 1 and 1.0 are one element of a set of integers.
      let members = Set(values.map { $0.coerced(to: element.unwrapped) ?? $0 })
      putArray(count: members.count)
      try putSorted(Array(members)) { (writer, value) throws(CoercionError) in
        try writer.put(value, as: element, at: "", nesting: nesting + 1)
      }
    case (.dictionary(let keyKind, let valueKind), .dictionary(let pairs)):
      putMap(count: pairs.count)
      var keys: Set<Value> = []
      try putSorted(Array(pairs)) { (writer, pair) throws(CoercionError) in
        let name = pair.key.description
        let key = pair.key.asKey(of: keyKind)
        guard keys.insert(key.coerced(to: keyKind.unwrapped) ?? key).inserted else {
          throw CoercionError(
            path: [], found: "the key \(name) a second time", expected: "each key once")
        }
        do throws(CoercionError) {
          try writer.put(key, as: keyKind, nesting: nesting + 1)
        } catch {
          // Of the dictionary: what stands under this key is the value.
          throw CoercionError(
            path: [], found: "the key \(name)", expected: "a key that is \(error.expected)")
        }
        try writer.put(pair.value, as: valueKind, at: name, nesting: nesting + 1)
      }
    case (.dictionary, .document(let document)):
      let pairs = document.fields.map { (Value.string($0.name), $0.value) }
      try put(
        .dictionary(Dictionary(pairs, uniquingKeysWith: { _, last in last })), as: kind,
        nesting: nesting)
    case (.document(let table), .document(let document)):
      guard frame.depth < RecordFormat.maximumDepth else {
        failure = .tooDeep
        return putNil()
      }
      let outer = beginTable(table)
      try putFields(of: document, table: table, nesting: nesting + 1)
      endEmbedded(outer)
    default:
      guard let scalar = value.coerced(to: kind) ?? (isRehearsing ? value.widened(to: kind) : nil)
      else {
        throw CoercionError(path: [], found: value.shortDescription, expected: kind.expectation)
      }
      if case .float = kind, case .double(let number) = scalar {
        put(Float(number))
      } else {
        putNatural(scalar)
      }
    }
  }

  private mutating func put(
    _ value: Value, as kind: Kind<Int>, at place: String, nesting: Int
  ) throws(CoercionError) {
    do {
      try put(value, as: kind, nesting: nesting)
    } catch {
      throw CoercionError(
        path: (place.isEmpty ? [] : [place]) + error.path, found: error.found,
        expected: error.expected)
    }
  }

  private mutating func putSorted<Item>(
    _ items: [Item],
    _ body: (inout RecordWriter, Item) throws(CoercionError) -> Void
  ) throws(CoercionError) {
    let start = count
    var ends: [Int] = []
    for item in items {
      try body(&self, item)
      ends.append(count)
    }
    sortItems(from: start, ends: ends)
  }

  /// Writes a value as what it is; a document becomes a dictionary, as it has no field table.
  ///
  /// - Parameter nesting: How many values this one is inside of. What is deeper than readers go is a failure.
  mutating func putNatural(_ value: Value, nesting: Int = 0) {
    guard nesting < RecordFormat.maximumNesting else {
      failure = .tooDeep
      return putNil()
    }
    switch value {
    case .null: putNil()
    case .bool(let value): put(value)
    case .integer(let value): put(value)
    case .unsigned(let value): put(value)
    case .double(let value): put(value)
    case .string(let value): put(value)
    case .data(let value): value._store(into: &self)
    case .date(let value): put(value)
    case .uuid(let value): put(value)
    case .url(let value): value._store(into: &self)
    case .decimal(let value): value._store(into: &self)
    case .array(let values):
      putArray(count: values.count)
      for value in values { putNatural(value, nesting: nesting + 1) }
    case .dictionary(let pairs):
      putMap(count: pairs.count)
      let start = count
      var ends: [Int] = []
      for (key, value) in pairs {
        putNatural(key, nesting: nesting + 1)
        putNatural(value, nesting: nesting + 1)
        ends.append(count)
      }
      sortItems(from: start, ends: ends)
    case .document(let document):
      let pairs = document.fields.map { (Value.string($0.name), $0.value) }
      putNatural(
        .dictionary(Dictionary(pairs, uniquingKeysWith: { _, last in last })), nesting: nesting)
    }
  }
}
