/// Which fields a `Codable` type knows: those that a type of keys has a key for with which the
/// values of one batch were encoded. What it does not know stays in records that it replaces.
@usableFromInline struct FieldKnowledge: Sendable {
  private struct Pair: @unchecked Sendable {  // Key plans are never changed.
    let keys: UnsafePointer<KeyPlan>
    let table: Int
  }

  private var pairs: [Pair] = []

  @usableFromInline init() {}

  var isEmpty: Bool { pairs.isEmpty }

  /// Notes that a record of a table was encoded with keys of a type.
  @inline(__always) mutating func add(_ keys: UnsafePointer<KeyPlan>, table: Int) {
    for pair in pairs where pair.keys == keys && pair.table == table { return }
    pairs.append(Pair(keys: keys, table: table))
  }

  /// Whether a field of the table is known.
  func knows(_ name: String, table: Int) -> Bool {
    pairs.contains { $0.table == table && $0.keys.pointee.knows(name) }
  }
}

/// The same for one collection, slot by slot.
final class KnownFields {
  private let knowledge: FieldKnowledge
  private let collection: Collection
  /// By table and slot; made when a table is first asked about.
  private var slots: [Int: [Bool]] = [:]

  /// nil where nothing is known: for documents that have a schema.
  init?(_ knowledge: FieldKnowledge, in collection: Collection) {
    if knowledge.isEmpty { return nil }
    self.knowledge = knowledge
    self.collection = collection
  }

  func knows(slot: Int, table: Int) -> Bool {
    if let known = slots[table] { return slot < known.count && known[slot] }
    let known = collection.tables[table].fields.map { knowledge.knows($0.name, table: table) }
    slots[table] = known
    return slot < known.count && known[slot]
  }
}
