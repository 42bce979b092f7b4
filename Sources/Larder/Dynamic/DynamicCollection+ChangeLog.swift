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
    try store.write { try $0.setChangeLog(of: name, isOn) }
    // What takes no number wakes nobody by itself.
    store.engine.watchHub.wakeAll(of: name)
  }

  /// Switches the change log of the collection on or off, on the store's own thread; as the synchronous one.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`.
  public func setChangeLog(_ isOn: Bool) async throws {
    try await store.write { [name] in try $0.setChangeLog(of: name, isOn) }
    store.engine.watchHub.wakeAll(of: name)
  }
}

extension WriteScope {
  fileprivate mutating func setChangeLog(of name: String, _ isOn: Bool) throws {
    guard let collection = catalogue[name] else { throw StoreError.noCollection(name) }
    guard collection.description.isLogged != isOn else { return }
    var description = collection.description
    description.isLogged = isOn
    try wholly { try $0.describe(description) }
  }
}
