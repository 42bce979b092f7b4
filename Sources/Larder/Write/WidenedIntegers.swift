internal import LarderLMDB

/// Fields of integers of which values, and no type, have made fields of doubles.
struct WidenedIntegers {
  private let before: CollectionDescription
  private let after: CollectionDescription

  /// Nil where there is none.
  ///
  /// - Parameters:
  ///   - before: The collection as it is, with what a type declares.
  ///   - after: The same with what values show: tables and fields of both have the same numbers.
  init?(from before: CollectionDescription, to after: CollectionDescription) {
    self.before = before
    self.after = after
    let hasWidened = zip(before.tables, after.tables).contains { tables in
      zip(tables.0.fields, tables.1.fields).contains { Self.isWidened($0.kind, $1.kind) }
    }
    guard hasWidened else { return nil }
  }

  private static func isWidened(_ before: Kind<Int>, _ after: Kind<Int>) -> Bool {
    guard before != after else { return false }
    switch (before.unwrapped, after.unwrapped) {
    case (.integer, .double): return true
    case (.array(let before), .array(let after)), (.set(let before), .set(let after)):
      return isWidened(before, after)
    case (.dictionary(let key, let value), .dictionary(let newKey, let newValue)):
      return isWidened(key, newKey) || isWidened(value, newValue)
    // The tables of documents are looked at as such.
    default: return false
    }
  }

  /// The first integer in a document that no double is equal to, and that stands where doubles are to be.
  func firstLost(in document: DynamicDocument) -> CoercionError? {
    lost(in: document, table: before.documentTable)
  }

  private func lost(in document: DynamicDocument, table: Int) -> CoercionError? {
    for field in document.fields {
      guard let stored = before.tables[table].field(named: field.name),
        let new = after.tables[table].field(named: field.name),
        var error = lost(in: field.value, stored.kind, new.kind)
      else { continue }
      error.path.insert(field.name, at: 0)
      return error
    }
    return nil
  }

  private func lost(in value: Value, _ stored: Kind<Int>, _ new: Kind<Int>) -> CoercionError? {
    switch (value, stored.unwrapped, new.unwrapped) {
    case (.integer(let number), .integer, .double):
      return Double(exactly: number) == nil ? Self.refusal("\(number)") : nil
    case (.unsigned(let number), .integer, .double):
      return Double(exactly: number) == nil ? Self.refusal("\(number)") : nil
    case (.array(let values), .array(let stored), .array(let new)),
      (.array(let values), .set(let stored), .set(let new)):
      return lost(in: values, stored, new)
    case (.document(let document), .document(let table), .document):
      return lost(in: document, table: table)
    case (.document(let document), .dictionary(_, let stored), .dictionary(_, let new)):
      return lost(in: document.fields.map(\.value), stored, new)
    case (
      .dictionary(let pairs), .dictionary(let key, let stored), .dictionary(let newKey, let new)
    ):
      return lost(in: Array(pairs.keys), key, newKey) ?? lost(in: Array(pairs.values), stored, new)
    default: return nil
    }
  }

  private func lost(in values: [Value], _ stored: Kind<Int>, _ new: Kind<Int>) -> CoercionError? {
    for value in values {
      if let error = lost(in: value, stored, new) { return error }
    }
    return nil
  }

  private static func refusal(_ number: String) -> CoercionError {
    CoercionError(
      path: [], found: number,
      expected:
        "an integer that a double is equal to, as the values that are new would make the field "
        + "one of doubles")
  }
}

extension WriteScope {
  /// Sees to it that the documents of a collection stay what they are where values, and no type, make
  /// fields of doubles out of fields of integers. Reads all of them then, and nothing otherwise.
  ///
  /// - Parameter description: What the collection is to be.
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` for the first stored
  ///   document with an integer that no double is equal to.
  borrowing func checkKeepsIntegers(
    _ declaration: Declaration, _ description: CollectionDescription
  ) throws {
    guard declaration.infers != nil, let collection = catalogue[declaration.name],
      try transaction.statistics(of: collection.documents).entryCount > 0
    else { return }
    var declared = collection.description
    do {
      try declaration.declares(&declared)
    } catch {
      guard case .kindMismatch = error else { throw error }
      // The type gives another kind to fields without values, which was looked into before.
      var typed = declaration
      typed.infers = nil
      declared = try typed.applied(to: collection.description, keeping: []) { content, _ in
        if case .fields = content { true } else { false }
      }
    }
    guard let widened = WidenedIntegers(from: declared, to: description) else { return }
    let binding = catalogue.anonymousBinding(of: collection)
    var cursor = try transaction.cursor(in: collection.documents)
    while try cursor.next() {
      // What cannot be read is lost to nobody by this.
      let document = try? binding.reading(cursor.value, key: cursor.key) { record in
        try DynamicDocument(record)
      }
      if let error = document.flatMap({ widened.firstLost(in: $0) }) {
        throw binding.refused(cursor.key, error)
      }
    }
  }
}
