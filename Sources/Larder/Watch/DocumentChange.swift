internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One change of one document, as the change log has it.
public struct DocumentChange: Sendable {
  /// What became of the document.
  public enum Kind: Sendable, Hashable {
    case inserted
    case updated
    case deleted
    /// Every document of the collection is gone.
    case erased
    /// Something has changed in a collection whose log is switched off.
    case unlogged
  }

  /// The change's number; they count up by one.
  public let sequence: UInt64
  /// What became of the document.
  public let kind: Kind
  /// The name of the collection that it belongs to.
  public let collection: String
  /// The document's entity-accessor key; null where all or unknown ones are meant.
  public let key: Value
  /// Who made it: this device, or a sync.
  public let origin: ChangeOrigin
  /// When it was made, by the clock of the device.
  public let time: Date
  /// The document before an update or a deletion; nil also where it cannot be read.
  public let old: DynamicDocument?
}

/// A place in the history of a store that an app can keep where it likes.
public struct ChangeToken: Sendable, Hashable, Codable {
  /// Which store it is a place in; tokens of other stores name no place.
  public let storeID: UUID
  /// The last change before the place.
  public let sequence: UInt64

  init(_ state: StoreState, sequence: UInt64) {
    storeID = state.storeID
    self.sequence = sequence
  }
}

/// Changes that follow each other.
public struct ChangeBatch: Sendable {
  /// In their order. Empty in a reset.
  public let changes: [DocumentChange]
  /// Whether the changes since the last batch are not known, since the log has let go of them, or
  /// since this is the first batch ever: read what you need from the store, in the transaction that
  /// acknowledges the batch.
  public let isReset: Bool
  /// The place behind the changes.
  public let token: ChangeToken
  /// Which consumer it was made for.
  let lease: ConsumerLease?
}

extension Store {
  /// The changes behind a place of the store's history, oldest first; from the start without one.
  ///
  /// - Parameters:
  ///   - collections: Names of the collections that matter; nil for all.
  ///   - origins: Where changes come from that matter; nil for all.
  ///   - limit: How many changes there are at most.
  /// - Throws: ``StoreError``.
  public func history(
    since token: ChangeToken? = nil, in collections: Set<String>? = nil,
    origins: Set<ChangeOrigin>? = nil, limit: Int = 1000
  ) throws -> ChangeBatch {
    let filter = ChangeFilter(collections: collections, origins: origins)
    try checkOpen()
    return try engine.storing {
      try engine.withChangeLog { snapshot, log in
        let isForeign = token.map { $0.storeID != snapshot.state.storeID } ?? false
        let start = isForeign ? nil : token?.sequence ?? 0
        return try snapshot.changes(after: start, filter, limit: limit, log)
      }
    }
  }

  /// The place behind the last change.
  ///
  /// - Throws: ``StoreError``.
  public func changeToken() throws -> ChangeToken {
    try read { ChangeToken($0.state, sequence: $0.sequence) }
  }
}

/// Which changes matter to somebody.
struct ChangeFilter: Sendable {
  let collections: Set<String>?
  let origins: Set<ChangeOrigin>?

  func holds(_ header: ChangePackHeader) -> Bool {
    collections?.contains(header.collection) != false && origins?.contains(header.origin) != false
  }
}

extension Snapshot {
  /// The changes behind a place, up to this moment or to the limit.
  ///
  /// - Parameter start: Nil for a place that the log cannot have.
  borrowing func changes(
    after start: UInt64?, _ filter: ChangeFilter, limit: Int, _ log: Database?,
    lease: ConsumerLease? = nil
  ) throws -> ChangeBatch {
    let reset = ChangeBatch(
      changes: [], isReset: true, token: ChangeToken(state, sequence: sequence), lease: lease)
    guard let start, start <= sequence else { return reset }
    var changes: [DocumentChange] = []
    var last = start
    if let log, limit > 0 {
      let catalogue = catalogue
      var bindings: [String: CollectionBinding] = [:]
      do {
        let isWhole = try transaction.forEachChange(after: start, head: sequence, in: log) {
          header, change in
          last = change.sequence
          guard filter.holds(header) else { return true }
          let name = header.collection
          let binding = bindings[name] ?? catalogue.binding(ofCollection: name)
          bindings[name] = binding
          changes.append(DocumentChange(header, change, binding))
          return changes.count < limit
        }
        guard isWhole else { return reset }
      } catch StoreError.damagedChangeLog {
        return reset
      }
    }
    return ChangeBatch(
      changes: changes, isReset: false, token: ChangeToken(state, sequence: last), lease: lease)
  }
}

extension DocumentChange {
  fileprivate init(
    _ header: ChangePackHeader, _ change: LoggedChange, _ binding: CollectionBinding?
  ) {
    sequence = change.sequence
    kind =
      switch change.kind {
      case .inserted: .inserted
      case .updated: .updated
      case .deleted: .deleted
      case .erased: .erased
      case .unlogged: .unlogged
      }
    collection = header.collection
    origin = header.origin
    time = Date(timeIntervalSinceReferenceDate: header.time)
    key =
      change.key.isEmpty ? .null : binding?.collection.keyKind.value(of: change.key) ?? .null
    old =
      change.old.isEmpty
      ? nil
      // A record that was damaged before the change is known by its key alone.
      : try? binding?.reading(change.old, key: change.key) { try DynamicDocument($0) }
  }
}
