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
  /// The document before an update or a deletion. Nil also where it cannot be read, and where it was
  /// deleted from a store or a disk so full that the log had no room for it.
  public let old: DynamicDocument?
}

/// A place in the history of a store that an app can keep where it likes.
public struct ChangeToken: Sendable, Hashable, Codable {
  /// Which store it is a place in; tokens of other stores name no place.
  public let storeID: UUID
  /// Which course of events of that store: a backup, and a store that was restored from one, have their
  /// own, and so has a store that is not durable after the power went. What was saved in one of them may
  /// not be in the other, and numbers are given again.
  public let timeline: UUID
  /// The last change before the place.
  public let sequence: UInt64

  fileprivate init(_ storeID: UUID, _ timeline: UUID?, sequence: UInt64) {
    self.storeID = storeID
    // A place in a timeline that is not known is none.
    self.timeline = timeline ?? UUID.random()
    self.sequence = sequence
  }
}

/// Changes that follow each other.
public struct ChangeBatch: Sendable {
  /// In their order. Empty in a reset.
  public let changes: [DocumentChange]
  /// Whether the changes since the last batch are not known: the log has dropped them, the store was
  /// restored, or this is the first batch ever.
  ///
  /// Read what you need from the store, in the transaction that acknowledges the batch, and before that
  /// transaction changes anything: what it finds is not among the changes that come. Where reading
  /// takes too long for that, read a snapshot and name it: ``WriteScope/acknowledge(_:readAt:)``.
  public let isReset: Bool
  /// The place behind the changes.
  public let token: ChangeToken
  /// Which consumer it was made for.
  let lease: ConsumerLease?
}

extension Store {
  /// The changes behind a place of the store's history, oldest first.
  ///
  /// A reset where the log does not reach back to the place: it has pruned what came next.
  ///
  /// - Parameters:
  ///   - token: The place; without one, the beginning of the store, which a log that has pruned anything
  ///     does not reach back to. ``changeToken()`` gives one to go on from.
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
        let start = try token.map { try snapshot.place(of: $0) } ?? 0
        return try snapshot.changes(after: start, filter, limit: limit, log)
      }
    }
  }

  /// The place behind the last change.
  ///
  /// - Throws: ``StoreError``.
  public func changeToken() throws -> ChangeToken {
    try read { try $0.token(at: $0.sequence) }
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
  fileprivate borrowing func token(at sequence: UInt64) throws -> ChangeToken {
    ChangeToken(state.storeID, try transaction.timeline()?.id, sequence: sequence)
  }

  /// The last change before the place that a token names; nil where it names none here.
  borrowing func place(of token: ChangeToken) throws -> UInt64? {
    guard token.storeID == state.storeID, token.timeline == (try transaction.timeline())?.id else {
      return nil
    }
    return token.sequence
  }

  /// The changes behind a place, up to this moment or to the limit.
  ///
  /// - Parameter start: Nil for a place that the log cannot have.
  borrowing func changes(
    after start: UInt64?, _ filter: ChangeFilter, limit: Int, _ log: Database?,
    lease: ConsumerLease? = nil
  ) throws -> ChangeBatch {
    let reset = ChangeBatch(
      changes: [], isReset: true, token: try token(at: sequence), lease: lease)
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
      changes: changes, isReset: false, token: try token(at: last), lease: lease)
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
