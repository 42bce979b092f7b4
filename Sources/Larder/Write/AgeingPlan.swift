/// The rules of a type, and how it stands to its collection.
struct AgeingPlan: Sendable {
  let rules: [AgeingRule]
  let binding: @Sendable (Catalogue) throws -> CollectionBinding?

  init<Entity: Document>(_ type: Entity.Type) {
    rules = Entity.ageing.map(\.rule)
    binding = { try $0.binding(of: type) }
  }
}
