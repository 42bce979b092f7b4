internal import LarderLMDB

/// An index of a collection, ready to be maintained and read.
final class CollectionIndex: Sendable {
  /// What its database is named after; never another index's while this one is in use.
  let number: UInt32
  let definition: IndexDefinition
  let state: IndexState
  private let superseded: [UInt64]
  let database: Database
  let parts: [Part]
  /// Whether a part has an entry for each element of an array.
  let hasElements: Bool
  /// The condition for being in the index; nil for all documents.
  let filter: FilterNode?
  /// Whether documents may stand apart in it (``IndexDefinition/hasUnsettledDefaults``).
  let hasUnsettledDefaults: Bool

  struct Part: Sendable {
    let definition: IndexDefinition.Part
    /// Where the first name of the path stands in the documents' table; -1 where it is unknown.
    let slot: Int
  }

  /// Bytes of an entry's key that may hold values; ``IndexEntry`` draws what stands behind them.
  static let maximumValueByteCount = 250

  /// - Throws: ``StoreError/damagedCatalogue(_:)``.
  init(
    number: UInt32, _ record: IndexRecord, in description: CollectionDescription,
    database: Database
  ) throws(StoreError) {
    self.number = number
    definition = record.definition
    state = record.state
    superseded = record.superseded
    self.database = database
    parts = record.definition.parts.map { part in
      Part(definition: part, slot: description.fields.slot(of: part.path[0]) ?? -1)
    }
    hasElements = record.definition.parts.contains { $0.isMultiple }
    hasUnsettledDefaults = record.definition.hasUnsettledDefaults
    do throws(RecordError) {
      filter = try record.definition.filter.map { bytes throws(RecordError) in
        try FilterNode(decoding: bytes)
      }
    } catch {
      throw .damagedCatalogue("the condition of index \(record.definition.name): \(error)")
    }
  }

  var name: String { definition.name }

  /// Whether it is one of words, which ``SearchIndexChanges`` keeps, and not one of values.
  var isOfWords: Bool { definition.weights != nil }

  /// Whether queries may use it.
  var isComplete: Bool { state == .complete && definition.isCurrent }

  /// Whether writers keep it.
  var isMaintained: Bool {
    switch state {
    case .building, .complete, .failed: true
    case .suspended, .dropped, .free: false
    }
  }

  /// Whether it may refuse a document that is saved.
  var mayRefuse: Bool { isMaintained && definition.isUnique }

  /// Whether a declaration asks for nothing else than this index: it is the same, or an older one.
  func serves(_ declared: IndexDefinition) -> Bool {
    definition.stands(for: declared) || isNewer(than: declared)
  }

  /// Whether this one has taken the place of what is declared.
  func isNewer(than declared: IndexDefinition) -> Bool {
    guard name == declared.name, !superseded.isEmpty else { return false }
    return definition.isNewer(than: declared, superseded)
  }
}

extension CollectionIndex {
  /// What a document has in this index, as a person reads it.
  func text(of document: DynamicDocument) -> String {
    definition.parts.map { part in
      var value: Value? = .document(document)
      for name in part.path {
        if case .document(let document)? = value { value = document[name] } else { value = nil }
      }
      return "\(part.path.joined(separator: ".")) \(value?.description.prefix(80) ?? "null")"
    }.joined(separator: ", ")
  }
}
