@testable import Larder

extension Store {
  /// Declares a type with other indexes than its own, and has them built.
  func declare<Entity: Document>(_ type: Entity.Type, indexes: [IndexDeclaration]) throws {
    var declaration = try Declaration(type)
    declaration.indexes = indexes
    let engine = engine
    try engine.writer.run { [declaration] in
      try engine.declare(declaration)
      while try engine.workOnIndex() {}
    }
  }

  /// Has every plan of a query answer: the keys that it finds.
  func eachPlan<Entity: Document>(
    of query: Query<Entity>, _ body: (_ keys: [Entity.Key], Plan) throws -> Void
  ) throws {
    try read { snapshot in
      guard let binding = try snapshot.catalogue.binding(of: Entity.self) else { return }
      let selection = query.selection
      for plan in try snapshot.transaction.everyPlan(of: selection, in: binding.collection) {
        var keys: [Entity.Key] = []
        try Execution(plan, selection, binding).forEach(
          in: snapshot.transaction, wanted: .max
        ) { key, _ in
          if let key = Entity.Key(encodedKey: key) { keys.append(key) }
          return true
        }
        try body(keys, plan)
      }
    }
  }
}
