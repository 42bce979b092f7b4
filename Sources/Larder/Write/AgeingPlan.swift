/// The rules of a type, and how it stands to its collection.
struct AgeingPlan: Sendable {
  let rules: [AgeingRule]
  let binding: @Sendable (Catalogue) throws -> CollectionBinding?

  init<Entity: Document>(_ type: Entity.Type) {
    rules = Entity.ageing.map(\.rule)
    binding = { try $0.binding(of: type) }
  }
}

/// How one rule goes through the documents that are due.
struct EvictionWalk {
  /// Where it begins, and in the end where the next one is to; nil for the oldest document.
  var place: EvictionPlace?
  /// How many documents with unsent edits it may still go past.
  var unsentLimit = Int.max
}
