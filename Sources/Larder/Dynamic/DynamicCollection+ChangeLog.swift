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
    try store.write { tx in
      guard let collection = tx.catalogue[name] else { throw StoreError.noCollection(name) }
      guard collection.description.isLogged != isOn else { return }
      var description = collection.description
      description.isLogged = isOn
      try tx.wholly { try $0.describe(description) }
    }
    // What takes no number wakes nobody by itself.
    store.engine.watchHub.wakeAll(of: name)
  }
}
