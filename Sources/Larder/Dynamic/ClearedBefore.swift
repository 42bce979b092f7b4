/// A query whose documents are deleted before others are saved, unless they are among them.
enum ClearedBefore: Sendable {
  case typed(Selection)
  case untyped(DynamicQuery)

  /// Finds what the query matches as the transaction of `scope` sees it.
  ///
  /// - Parameter binding: That of the collection without its type.
  /// - Throws: ``DynamicQueryError`` for a query that does not fit the collection's fields; ``StoreError``.
  func begin(
    _ scope: borrowing WriteScope, _ type: (any Document.Type)?, _ binding: CollectionBinding
  ) throws -> Clearing {
    switch self {
    case .typed(let selection):
      let typed = try type.flatMap { try scope.catalogue.binding(ofType: $0) }
      return try scope.clearing(selection, typed ?? binding)
    case .untyped(let query):
      return try scope.clearing(query.lowered(in: binding.collection), binding)
    }
  }
}

extension Catalogue {
  /// As ``binding(of:)``, of a type that only its value tells.
  fileprivate func binding<Entity: Document>(
    ofType type: Entity.Type
  ) throws -> CollectionBinding? { try binding(of: type) }
}
