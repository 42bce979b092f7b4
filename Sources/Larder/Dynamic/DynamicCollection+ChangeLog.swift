extension DynamicCollection {
  /// Whether changes of the collection are logged; nil where it does not exist.
  ///
  /// - Throws: ``StoreError``.
  public func hasChangeLog() throws -> Bool? {
    try store.read { $0.catalogue[name]?.description.isLogged }
  }

  /// Switches the change log of the collection on or off. Without it writes are cheaper and the
  /// store is smaller, and nobody can watch the collection: watchers, those that there are too, end
  /// with ``StoreError/unlogged(collection:)``.
  ///
  /// What is switched off stays off for every process, until it is switched on again. Watchers then
  /// begin anew.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/noCollection(_:)``; nothing is changed
  ///   then.
  public func setChangeLog(_ isOn: Bool) throws {
    try store.write { tx in try tx.describe(name) { $0.isLogged = isOn } }
    // What takes no number wakes nobody by itself.
    store.engine.watchHub.wakeAll(of: name)
  }

  /// Switches the change log of the collection on or off, on the store's own thread; as the synchronous one.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`.
  public func setChangeLog(_ isOn: Bool) async throws {
    try await store.write { [name] tx in try tx.describe(name) { $0.isLogged = isOn } }
    store.engine.watchHub.wakeAll(of: name)
  }
}

extension WriteScope {
  /// Changes what the catalogue keeps of a collection.
  ///
  /// - Throws: ``StoreError/noCollection(_:)``; other ``StoreError``s. Nothing is changed then.
  mutating func describe(
    _ name: String, _ change: (inout CollectionDescription) -> Void
  ) throws {
    guard let collection = catalogue[name] else { throw StoreError.noCollection(name) }
    var description = collection.description
    change(&description)
    guard description != collection.description else { return }
    try wholly { [description] in try $0.describe(description) }
  }
}
