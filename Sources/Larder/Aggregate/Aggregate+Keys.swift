extension Aggregate {
  /// The entity-accessor keys, in the query's order. Texts come in normalisation form C.
  public static func keys() -> Self where Result == [Entity.Key] {
    Self(
      inOrderFromIndex: { moment, selection, binding in
        try moment.keys(of: selection, binding).map {
          try Entity.Key(encoded: $0, in: binding.collection)
        }
      },
      { collection, rows in
        var keys: [Entity.Key] = []
        try rows { key, _ in
          keys.append(try Entity.Key(encoded: key, in: collection))
          return true
        }
        return keys
      })
  }
}

extension Reading where Self: ~Copyable {
  /// The keys of what `query` selects, in its order. Nothing is decoded.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public borrowing func keys<Entity: Document>(
    of query: Query<Entity>
  ) throws -> [Entity.Key] {
    try aggregate(.keys(), of: query)
  }
}

extension DocumentKey {
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for a key of another kind.
  fileprivate init(
    encoded bytes: UnsafeRawBufferPointer, in collection: Collection
  ) throws(StoreError) {
    guard let key = Self(encodedKey: bytes) else {
      throw .damagedRecord(
        collection: collection.name, key: collection.keyKind.text(of: bytes),
        reason: .invalid("its key is no \(Self.self)"))
    }
    self = key
  }
}
