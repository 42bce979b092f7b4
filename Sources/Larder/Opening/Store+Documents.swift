internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Opens the store in `folder`, as ``init(at:options:)-(URL,_)`` does, and makes the collections,
  /// fields and indexes of these types known to it.
  ///
  /// A collection, a field or an index that is new has to be declared before the first document that
  /// needs it is written. A write that meets an undeclared type declares it and runs its body again,
  /// once for each such type: on a fresh install, and after an update of the app that adds fields.
  /// List your types here, and the body of a write runs once.
  ///
  /// Costs a transaction for each type of which something is new, and nothing otherwise. A store that
  /// is opened only to be read declares nothing.
  ///
  /// A type whose migration was cut short is passed over, so that the store opens and the migration can
  /// go on; its first use afterwards declares it. A migration that changes the kind of a field has to run
  /// before its type is named: open the store without the types, migrate, then name them with
  /// `declare([Contact.self, Order.self])`.
  ///
  /// ```swift
  /// let store = try Store(at: folder, documents: [Contact.self, Order.self])
  /// ```
  /// - Parameter types: Document types. Values of a plain `Codable` type say which fields they have only
  ///   as they are saved, so that listing theirs would not help.
  /// - Throws: ``StoreError``, as without the types, and for a type that does not fit what is stored, such
  ///   as ``StoreError/kindMismatch(collection:field:stored:declared:)`` and
  ///   ``StoreError/sharedCollection(_:types:)``, but never
  ///   ``StoreError/unfinishedMigration(collection:version:)``. The types before that one are declared
  ///   then, and the store is closed.
  public convenience init(
    at folder: URL, documents types: [any Document.Type], options: StoreOptions = StoreOptions()
  ) throws {
    try Self.refuseNamesakes(types)
    try self.init(at: folder, options: options)
    try declareMigrated(types)
  }

  /// Opens the store in the folder at this path, and makes these types known to it; see
  /// ``init(at:documents:options:)-(URL,_,_)``.
  ///
  /// - Throws: ``StoreError``, as there.
  public convenience init(
    at path: String, documents types: [any Document.Type], options: StoreOptions = StoreOptions()
  ) throws {
    try Self.refuseNamesakes(types)
    try self.init(at: path, options: options)
    try declareMigrated(types)
  }

  /// A store as ``temporary()`` makes it, to which these types are known.
  ///
  /// - Throws: ``StoreError``, as ``init(at:documents:options:)-(URL,_,_)``.
  public static func temporary(documents types: [any Document.Type]) throws -> Store {
    try refuseNamesakes(types)
    let store = try temporary()
    try store.declareMigrated(types)
    return store
  }

  /// Makes the collections, fields and indexes of these types known to the store, as
  /// ``init(at:documents:options:)-(URL,_,_)`` does: for types whose migrations have to run first.
  ///
  /// Costs a transaction for each type of which something is new, and nothing otherwise. A store that
  /// is opened only to be read declares nothing.
  ///
  /// ```swift
  /// let store = try Store(at: folder)
  /// try await store.migrate(Contact.self, to: 2) { contact in ... }
  /// try store.declare([Contact.self, Order.self])
  /// ```
  /// - Throws: ``StoreError``, such as ``StoreError/kindMismatch(collection:field:stored:declared:)`` for a
  ///   type that does not fit what is stored, and
  ///   ``StoreError/unfinishedMigration(collection:version:)``. The types before that one are declared then.
  ///   ``StoreError/sharedCollection(_:types:)``, and none is.
  public func declare(_ types: [any Document.Type]) throws {
    try checkOpen()
    try Self.refuseNamesakes(types)
    for type in types { try declareUnlessKnown(type) }
  }

  /// Two types may share a collection whose name is not that of both. Two that have the same name, in different
  /// modules or inside of different types, would take each other's documents for their own, and nobody would see it.
  static func refuseNamesakes(_ types: [any Document.Type]) throws(StoreError) {
    var known: [String: any Document.Type] = [:]
    for type in types {
      let name = collectionName(type)
      guard name == "\(type)", let other = known.updateValue(type, forKey: name), other != type
      else { continue }
      throw .sharedCollection(
        name, types: [String(reflecting: other), String(reflecting: type)])
    }
  }

  private static func collectionName<Entity: Document>(_ type: Entity.Type) -> String {
    Entity.schema.name
  }

  /// Passes over types with an unfinished migration: their app could not open the store to finish it.
  private func declareMigrated(_ types: [any Document.Type]) throws {
    for type in types {
      do {
        try declareUnlessKnown(type)
      } catch StoreError.unfinishedMigration {}
    }
  }

  /// Does not wait for a turn to write where nothing is new.
  private func declareUnlessKnown<Entity: Document>(_ type: Entity.Type) throws {
    if engine.environment.options.isReadOnly { return }
    if try engine.storing({ try engine.catalogue.declaredBinding(of: type) }) != nil { return }
    try write { _ = try $0.declared(type) }
  }
}
