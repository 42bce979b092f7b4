#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The fields of documents without a type, as their values show them.
package struct InferredShape: DocumentShape {
  private var seen: [SeenField] = []
  private var places: [String: Int] = [:]
  let inference: Inference
  /// The table of the documents in the catalogue; nil if they have none yet.
  private let table: Int?
  let rules: KindRules?
  /// How many documents were seen, and how many fields they had together.
  private var documentCount = 0
  private var fieldCount = 0

  private struct SeenField {
    let name: String
    var values = SeenValues()
  }

  /// Arrays and dictionaries directly inside one another: with an optional around each, their
  /// kind is as deep as the catalogue can keep.
  static let maximumNesting = RecordFormat.maximumDepth / 2 - 1

  var identity: ObjectIdentifier? { nil }
  static var isDeclared: Bool { false }

  /// No field seen yet.
  package init() { self.init(nil) }

  /// No field seen yet, of documents of a collection that may exist.
  init(_ description: CollectionDescription?, _ policy: Inference.Policy = Inference.Policy()) {
    self.init(
      Inference(tables: description?.tables ?? [], policy),
      table: description?.documentTable, policy.rules)
  }

  /// No field seen yet, of documents in a field.
  init(_ inference: Inference, table: Int?, _ rules: KindRules?) {
    self.inference = inference
    self.table = table
    self.rules = rules
  }

  var fields: [ShapeField<InferredShape>] {
    seen.map { ShapeField(name: $0.name, kind: $0.values.kind, isRequired: false) }
  }

  /// Whether nothing has been seen.
  package var isEmpty: Bool { seen.isEmpty }

  /// Names and kinds of the fields seen, for people; without those that a type declares.
  package var summary: [(name: String, kind: String)] {
    fields.filter { stored($0.name)?.isDeclared != true }.map { ($0.name, "\($0.kind)") }
  }

  /// Whether a field down these names was seen; also where nothing is known of what is in it.
  package func hasSeen(_ names: [String]) -> Bool { hasSeen(names[...]) }

  func hasSeen(_ names: ArraySlice<String>) -> Bool {
    guard let name = names.first else { return true }
    guard let place = places[name] else { return false }
    return stored(name)?.isDeclared == true || seen[place].values.hasSeen(names.dropFirst())
  }

  /// Takes a document's fields in.
  ///
  /// Kinds grow as far as they can: integers to `Int64`, `UInt64` or double, everything to
  /// optional.
  ///
  /// - Throws: ``Conflict`` for a field that holds another kind than before; what was taken in
  ///   until then stays.
  package mutating func add(_ document: DynamicDocument) throws(Conflict) {
    try add(document, isMixed: inference.policy.allowsMixed)
  }

  mutating func add(_ document: DynamicDocument, isMixed: Bool) throws(Conflict) {
    documentCount += 1
    fieldCount += document.fields.count
    // Documents of one origin have their fields in one order, nearly always.
    var next = 0
    for field in document.fields {
      if next >= seen.count || seen[next].name != field.name { next = place(of: field.name) }
      do {
        try add(field, at: next, isMixed: isMixed)
      } catch {
        var conflict = error
        conflict.path.insert(field.name, at: 0)
        conflict.steps.insert(field.name, at: 0)
        throw conflict
      }
      next += 1
    }
  }

  /// Two kinds in one field.
  package struct Conflict: Error {
    /// Names of the fields down to the value.
    package internal(set) var path: [String] = []
    /// The same with the places in arrays and the keys of dictionaries.
    package internal(set) var steps: [String] = []
    /// What the document has, in words.
    package let found: String
    /// What earlier documents had, in words.
    package let seen: String
    /// Whether a field of any kind would not help either.
    var isFinal = false
  }

  package static func == (left: Self, right: Self) -> Bool { left.fields == right.fields }
  package func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  private mutating func place(of name: String) -> Int {
    if let place = places[name] { return place }
    places[name] = seen.count
    seen.append(SeenField(name: name))
    return seen.count - 1
  }

  private mutating func add(
    _ field: DynamicDocument.Field, at place: Int, isMixed: Bool
  ) throws(Conflict) {
    let stored = stored(field.name)
    guard let stored, stored.isDeclared else {
      return try seen[place].values.add(
        field.value,
        SeenValues.Place(
          inference, stored: stored?.kind, rules: rules?.member(field.name), isMixed: isMixed))
    }
    if stored.kind.holdsDocuments {
      try seen[place].values.add(
        field.value, declared: stored.kind,
        SeenValues.Place(inference, stored: nil, rules: nil, isMixed: isMixed))
    }
  }

  /// The field that the catalogue has of this name.
  func stored(_ name: String) -> StoredField? {
    table.flatMap { inference.tables[$0].field(named: name) }
  }
}

// MARK: Dictionaries

extension InferredShape {
  /// Names that a struct of this many fields may have.
  private static let fewCount = 128
  /// More names than a struct has, even if every document has all of them.
  private static let manyCount = 4_096

  /// Whether the names keep coming, as keys of a dictionary do: there are many, and each document has
  /// few of them.
  ///
  /// As fields, each name would take a place in the table of every document.
  var isDictionary: Bool {
    guard seen.count > Self.fewCount else { return false }
    return seen.count > Self.manyCount || fieldCount < documentCount * seen.count / 4
  }

  /// Names that documents may have between them, of whichever each has only a few.
  private static let sparseCount = 1_024

  /// How many fields the documents would have with those that are new, and how many each has on average, where
  /// nearly all would lack nearly all of them; nil elsewhere.
  ///
  /// A record takes two to four bytes for each field up to the last that it has: 20 new names in each of 3,000
  /// documents of 300 bytes would make a file of 300 MB.
  package var sparseness: (names: Int, average: Int)? {
    let known = table.map { inference.tables[$0].fields.count } ?? 0
    let new = seen.count { stored($0.name) == nil }
    let names = known + new
    guard names > Self.sparseCount, new > Self.fewCount, fieldCount < documentCount * names / 16
    else { return nil }
    return (names, fieldCount / max(documentCount, 1))
  }

  /// Whether there are so many names that the next document may show that they are keys.
  var mayBecomeDictionary: Bool {
    inference.policy.findsDictionaries && seen.count > Self.fewCount
  }

  /// The values of all fields together, as if they had one name.
  var valuesOfAllFields: SeenValues {
    seen.reduce(into: SeenValues()) { $0.join($1.values) }
  }

  /// Takes in what another shape has seen.
  mutating func join(_ other: InferredShape) {
    documentCount += other.documentCount
    fieldCount += other.fieldCount
    for field in other.seen { seen[place(of: field.name)].values.join(field.values) }
  }
}

// MARK: What others add

extension InferredShape {
  /// The values that were seen in a field; nil where there were none.
  func values(of name: String) -> SeenValues? { places[name].map { seen[$0].values } }

  /// Counts documents in which there was nothing new.
  mutating func addCounts(objects: Int, members: Int) {
    documentCount += objects
    fieldCount += members
  }

  /// Changes what was seen in a field.
  mutating func change(of name: String, _ change: (inout SeenValues) -> Void) {
    if let place = places[name] { change(&seen[place].values) }
  }
}

// MARK: The catalogue

extension InferredShape {
  /// What the catalogue knows of the documents; nil where it does not know the collection.
  package var place: FieldPlace? { table.map { FieldPlace(inference.tables, table: $0) } }
}

extension InferredShape.Conflict: CustomStringConvertible, LocalizedError {
  package var description: String {
    "Field `\(steps.joined(separator: "."))`: found \(found), where others hold \(seen)."
  }

  package var errorDescription: String? { description }
}
