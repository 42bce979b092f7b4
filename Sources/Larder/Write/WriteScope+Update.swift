internal import LarderLMDB

extension WriteScope {
  /// Changes the document under `key` in place: reads it, lends it to `body`, and writes it where
  /// its bytes have changed.
  ///
  /// ```swift
  /// try store.write { tx in try tx.update(Contact.self, "a") { $0.order += 1 } }
  /// ```
  /// - Returns: The document as it is now; nil when there is none, and `body` was not called.
  /// - Throws: Whatever `body` throws; ``StoreError/keyChanged(collection:key:found:)`` when it
  ///   gives the document another key; ``StoreError``, such as
  ///   ``StoreError/damagedRecord(collection:key:reason:)``. The document is as it was then, and
  ///   the transaction can go on.
  @discardableResult
  public mutating func update<Entity: Document>(
    _ type: Entity.Type, _ key: Entity.Key, _ body: (inout Entity) throws -> Void
  ) throws -> Entity? {
    guard var document = try get(type, key) else { return nil }
    _ = try declared(type)  // Before `body`, which should not run twice.
    try body(&document)
    try key.checkUnchanged(document.entityAccessorKey, in: type)
    try save(document)
    return document
  }

  /// Saves a document and returns the one that it replaces; nil when there was none.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)`` when the
  ///   old one cannot be read (``save(_:)`` would replace it). Nothing is changed then.
  @discardableResult
  public mutating func upsert<Entity: Document>(_ document: Entity) throws -> Entity? {
    let old = try get(Entity.self, document.entityAccessorKey)
    try save(document)
    return old
  }
}
