internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a store refuses or could not do. Nothing is changed by a call that throws one, but where its
/// own documentation says otherwise: migrations, eviction and salvage work in steps and keep those
/// that were done, and a save of documents without a type may have made fields known.
public enum StoreError: Error, Equatable, Sendable {
  /// The store was closed, or is closing.
  case closed
  /// The store was opened read-only.
  case readOnly
  /// A write inside a write of the same store on the same thread.
  case nestedWrite
  /// The folder holds something that is no Larder store.
  case notAStore(path: String, reason: String)
  /// The store was written by another format version than this library reads.
  case formatVersion(path: String, found: UInt32, supported: UInt32)
  /// This process has the store open already, with other values of the ``StoreOptions`` that are named.
  case optionsDiffer(path: String, names: [String])
  /// Two types of one list that have the same name, without a module or a type around it, and so the same
  /// collection; their full names.
  case sharedCollection(String, types: [String])
  /// An option out of its range.
  case invalidOption(String, reason: String)
  /// No snapshot could be had that agrees with its own state record.
  case unstableSnapshot(attempts: Int)
  /// An entity-accessor key that is empty or too long once it is encoded.
  case keyLength(collection: String, key: String, byteCount: Int, limit: Int)
  /// A closure or a mapper that was to change a document gave it another key.
  case keyChanged(collection: String, key: String, found: String)
  /// A mapper gave an entity a model, and none when it was asked again.
  case inconsistentMapper(collection: String, key: String)
  /// A key of another kind than the collection's.
  case keyKind(collection: String, stored: KeyKind, found: KeyKind)
  /// Another field was named as the key than the collection's; `stored` is nil where the
  /// collection's type computes its keys.
  case keyField(collection: String, stored: String?, given: String)
  /// A collection's name is empty, too long, or has control characters.
  case collectionName(String, reason: String)
  /// A type declares a field with a kind that the stored one cannot become. The field is empty where one write undoes
  /// each time what a type declares.
  case kindMismatch(collection: String, field: String, stored: String, declared: String)
  /// A value does not fit the kind that the catalogue has for its field.
  case valueRefused(
    collection: String, key: String, field: String, found: String, expected: String)
  /// A document holds a case of an enum that this version of the app does not know: a newer version
  /// probably wrote it, and nothing is damaged. Thrown wherever
  /// ``damagedRecord(collection:key:reason:)`` is; ``Query/skippingUnreadable(_:)`` leaves such
  /// documents out.
  case unknownCase(collection: String, key: String, reason: RecordError)
  /// A record could not be read: its bytes are damaged, or another version of the type has written it and a field
  /// lacks a value that this one needs, as the description then says.
  ///
  /// The key is empty where it is not known, and may be one that no
  /// document ever had where its bytes are damaged, too.
  case damagedRecord(collection: String, key: String, reason: RecordError)
  /// A document could not be written as a record.
  case unwritable(collection: String, key: String, reason: RecordError)
  /// The pages of the file are damaged. Nothing was changed; the store cannot be opened.
  case damagedFile(path: String, reason: String)
  /// A published file, or that of a letter, is damaged. Nothing was changed.
  case damagedPublication(path: String, reason: String)
  /// A quarantine of the store was begun and did not come to its end: what is there is a part of what
  /// can be saved.
  case unfinishedQuarantine(path: String, reason: String)
  /// The catalogue's or the state's own bytes are damaged.
  case damagedCatalogue(String)
  /// A type declares an index that cannot be kept.
  case indexNotAllowed(collection: String, index: String, reason: String)
  /// An index does not agree with its documents.
  case damagedIndex(collection: String, index: String, reason: String)
  /// The log of changes could not be read.
  case damagedChangeLog(String)
  /// There is no collection of this name.
  case noCollection(String)
  /// Another iteration, here or in another process, consumes under the name.
  case consumerBusy(name: String, timeLeft: Duration)
  /// Another iteration has taken over, or the consumer was removed.
  case consumerLost(name: String)
  /// A consumer's name is empty, too long, or has a zero byte.
  case consumerName(String)
  /// What the store keeps of a named consumer cannot be read.
  case damagedConsumer(name: String)
  /// The collection keeps no change log, without which nobody can watch it.
  case unlogged(collection: String)
  /// Two documents with equal values in a unique index; `key` is the one that was being saved.
  case uniqueViolation(
    collection: String, index: String, value: String, key: String, otherKey: String)
  /// A limit, an offset or a cursor where the whole match is meant.
  case queryNotAllowed(operation: String, reason: String)
  /// A migration of the collection was begun and not finished: its documents are of two
  /// versions.
  case unfinishedMigration(collection: String, version: Int)
  /// A migration to a version that is not the next one; `collection` is nil for the store's own.
  case versionSkipped(collection: String?, stored: Int, asked: Int)
  /// A migration was to move a document to a key that another one has.
  case keyTaken(collection: String, key: String, taken: String)
  /// A collection that was to be the new name of another one exists already.
  case collectionExists(String)
  /// A synced collection was to be renamed, or another one to get its name.
  case renamingSynced(collection: String)
  /// A cursor that does not belong to the query that it was given with.
  case cursorRefused(collection: String, reason: String)
  /// A sum of integers that its result cannot hold.
  case sumOverflow(collection: String, field: String, sum: String)
  /// A predicate threw while it was evaluated on a document.
  case predicateFailed(collection: String, key: String, reason: String)
  /// There is no room for what was to be written. Deleting still works where it is the quota that is
  /// reached.
  case full(Shortage)
  /// A backup was to be restored and has problems; the first ten. Nothing was touched.
  case damagedBackup(path: String, problems: [String])
  /// A query's conditions nest deeper than `limit` levels.
  case queryTooDeep(limit: Int)
  /// A write did not get its turn within ``StoreOptions/writeTimeout``. Nothing was written; it may be
  /// tried again.
  case writeTimedOut(path: String, waitedFor: WriteObstacle)
  /// The store could not be opened within ``StoreOptions/openTimeout``, as another process opens it,
  /// compacts or restores it; which one, as far as the system tells. Nothing was changed.
  case openTimedOut(path: String, waitedFor: CompetingProcess?)
  /// The store at this path was suspended, by ``Store/suspend(timeout:)``, and nothing was done.
  case suspended(path: String)
  /// LMDB, the file system or the system's limits.
  case storage(StorageFailure)

  /// Whether there is no room.
  var isFull: Bool { if case .full = self { true } else { false } }

  /// Whether it is a document that is at fault, and not the store: another one may be saved.
  package var isOfDocument: Bool {
    switch self {
    case .valueRefused, .kindMismatch, .keyKind, .keyLength, .uniqueViolation, .unwritable,
      .damagedRecord:
      true
    default: false
    }
  }

  init(_ error: LMDBError) {
    if let code = StorageFailure.Code(error.code) {
      self = .storage(StorageFailure(code, error))
      return
    }
    switch error.code {
    case .closed: self = .closed
    case .suspended: self = .suspended(path: error.path ?? "")
    case .readOnly: self = .readOnly
    case .nestedWrite: self = .nestedWrite
    case .optionsDiffer(let names): self = .optionsDiffer(path: error.path ?? "", names: names)
    case .busy(let holder):
      self = .writeTimedOut(
        path: error.path ?? "", waitedFor: .otherProcess(holder.map { CompetingProcess($0) }))
    case .openingElsewhere(let holder):
      self = .openTimedOut(path: error.path ?? "", waitedFor: holder.map { CompetingProcess($0) })
    case .corrupted, .pageNotFound:
      self = .damagedFile(path: error.path ?? "", reason: error.detail)
    case .unfinishedQuarantine:
      self = .unfinishedQuarantine(path: error.path ?? "", reason: error.detail)
    default: preconditionFailure("\(error.code) is neither a code of storage nor a store's error")
    }
  }

  package var isSuspended: Bool { if case .suspended = self { true } else { false } }

  /// Whether another process has made the file larger than the map of this one, which cannot be made larger while
  /// somebody reads on.
  var isOutgrown: Bool {
    if case .storage(let failure) = self { failure.code == .mapResized } else { false }
  }

  /// Whether it tells of bytes that were not what had been written.
  var isDamage: Bool {
    switch self {
    case .damagedRecord(_, _, let reason): !reason.isMisfit
    case .damagedFile, .damagedPublication, .damagedCatalogue, .damagedIndex: true
    default: false
    }
  }

  /// The error as it reads for a published file at `path`, which is replaced and not repaired.
  func ofPublication(at path: String) -> StoreError {
    let reason: String
    switch self {
    case .damagedFile(_, let what), .damagedPublication(_, let what): reason = what
    case .damagedCatalogue(let what): reason = "in its catalogue, \(what)"
    case .damagedIndex(let collection, let index, let what):
      reason = "in the index `\(index)` of \(collection), \(what)"
    case .notAStore(_, let what): return .notAStore(path: path, reason: what)
    case .formatVersion(_, let found, let supported):
      return .formatVersion(path: path, found: found, supported: supported)
    default: return self
    }
    return .damagedPublication(path: path, reason: reason)
  }
}

/// What a write has waited for in vain.
public enum WriteObstacle: Hashable, Sendable {
  /// Writes of this process before it.
  case thisProcess
  /// A writer of another process, as far as the system tells which.
  case otherProcess(CompetingProcess?)
}

extension WriteObstacle: CustomStringConvertible {
  public var description: String {
    switch self {
    case .thisProcess: "other writes of this process came first"
    case .otherProcess(let holder):
      "\(holder?.description ?? "another process") is writing"
    }
  }
}

extension StoreError {
  /// How errors name a value that is missing.
  static let nothing = "nothing"
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "The store is closed. Open it again with `Store(at:)`."
    case .readOnly: "The store was opened read-only. Open it without `isReadOnly` to write."
    case .nestedWrite:
      "A write inside a write of the same store would wait for itself. Use the `tx` that the "
        + "outer write passed in."
    case .notAStore(let path, let reason):
      "\(path) is no Larder store: \(reason). Give the folder of a store, or an empty one."
    case .formatVersion(let path, let found, let supported):
      "\(path) has format version \(found); this library reads version \(supported). Open it "
        + "with the version of Larder that wrote it, or import its data into a new store."
    case .optionsDiffer(let path, let names):
      "\(path) is open already in this process with other options (\(names.joined(separator: ", "))). "
        + "Open it once and share the store, or use the same options."
    case .sharedCollection(let name, let types):
      "\(types.joined(separator: " and ")) would share the collection \(name). Give one of them a name of "
        + "its own: `@Document(as: \"...\")`."
    case .invalidOption(let name, let reason):
      "`\(name)` of the store's options is out of range: \(reason)."
    case .unstableSnapshot(let attempts):
      "No consistent snapshot after \(attempts) attempts. If the file is a copy made by "
        + "another tool, open it once for writing."
    case .keyLength(let collection, let key, let byteCount, let limit):
      byteCount == 0
        ? "A document of \(collection) has an empty key. Give it 1 to \(limit) bytes."
        : "The key \(key.prefix(40))... of \(collection) takes \(byteCount) bytes; the limit is "
          + "\(limit). Shorten it, or use a hash of it."
    case .keyChanged(let collection, let key, let found):
      "\(collection) \(key) was given the key \(found). A change must leave the key alone; save "
        + "the document under its new key and delete the old one."
    case .inconsistentMapper(let collection, let key):
      "The mapper of \(collection) gave the entity \(key) a model, and none when it was asked again. "
        + "Its `convert` must depend on the entity alone; what else decides belongs in the query."
    case .keyKind(let collection, let stored, let found):
      "\(collection) has keys of kind \(stored), not \(found). Save the documents in a collection of another "
        + "name, under their new keys, and delete the old ones. A collection without documents takes any keys, "
        + "unless it is synced."
    case .keyField(let collection, let stored?, let given):
      "The key of \(collection) is its field `\(stored)`, not `\(given)`. Name that one; or save the documents in "
        + "a collection of another name, under their new keys, and delete the old ones."
    case .keyField(let collection, nil, ""):
      "No document of \(collection) has shown yet which field is its key. Import into the collection by its name: "
        + "`importDocuments(from: source, into: \"\(collection)\", key: \"id\")`."
    case .keyField(let collection, nil, _):
      "The keys of \(collection) are computed by its type, so that only the type can save there."
    case .collectionName(let name, let reason):
      "\(String(name.prefix(40)).debugDescription) cannot name a collection: \(reason)."
    case .kindMismatch(let collection, "", _, _):
      "What a type declares for \(collection) is undone each time by the same write: it saves two types that "
        + "disagree, or renames the collection first. Use two writes, one behind the other."
    case .kindMismatch(let collection, let field, let stored, let declared):
      "Field `\(field)` of \(collection) holds \(stored) and is declared \(declared). "
        + "Convert the documents with `migrate`, in a store that is opened without `documents:`; store the new "
        + "kind under another name; or erase the collection and save its documents again. If a newer version of "
        + "the app was here, update the app."
    case .valueRefused(let collection, let key, let field, let found, let expected):
      (field.isEmpty ? "" : "Field `\(field)` of ")
        + (key.isEmpty ? collection : "\(collection) \(key)")
        + ": expected \(expected), found \(found). "
        + (found == Self.nothing
          ? "Give it a value, or give the property of the type a default."
          : "Convert the value, or leave it out.")
    case .damagedRecord(let collection, "", let reason):
      "A document of \(collection) whose key is not known cannot be read: \(reason). Close the store in "
        + "every process; `Store.quarantine(at:)`, or `larder quarantine`, then saves what is whole into "
        + "a new store. Or restore a backup."
    case .damagedRecord(let collection, let key, let reason) where reason.isMisfit:
      "\(collection) \(key) cannot be read by this version of the type: \(reason). It is not damaged; another "
        + "version of the app has saved it. Give the field a default or make it optional, change the stored "
        + "documents with `migrate`, or leave such documents out of a query with `skippingUnreadable`."
    case .damagedRecord(let collection, let key, let reason):
      "The record of \(collection) \(key) cannot be read: \(reason). Save or delete the "
        + "document to mend it. If you never had a document with that key, the key is damaged as well: "
        + "close the store in every process, and set the file aside with `larder quarantine`."
    case .unknownCase(let collection, let key, let reason):
      "\(collection) \(key) cannot be read by this version of the app: \(reason). It is not damaged; "
        + "a newer version of the app has probably written it. Update the app, or leave such "
        + "documents out of a query with `skippingUnreadable`."
    case .unwritable(let collection, let key, let reason):
      "\(collection) \(key) cannot be stored: \(reason). Change it or leave it out; nothing of its "
        + "save is kept."
    case .damagedFile(let path, let reason):
      "The file \(path) is damaged: \(reason). Close the store in every process; "
        + "`Store.quarantine(at:)`, or `larder quarantine`, then sets the file aside and saves what "
        + "can still be read into a new store. Or restore a backup."
    case .damagedPublication(let path, let reason):
      "What was published as \(path) is damaged: \(reason). Publish it again, which replaces it. If "
        + "it is a letter, remove it with `Mailbox.remove(_:)`, and have it posted again."
    case .unfinishedQuarantine(let path, let reason):
      "The store at \(path) is not whole yet: \(reason). Run `Store.quarantine(at:)`, or "
        + "`larder quarantine`, once more, which goes on with it; or restore a backup."
    case .damagedCatalogue(let what):
      "The store's catalogue is damaged: \(what). Restore a backup; or close the store in every "
        + "process, and `Store.quarantine(at:)`, or `larder quarantine`, sets the file aside and saves "
        + "what can still be read into a new store."
    case .indexNotAllowed(let collection, let index, let reason):
      "\(collection) cannot have the index `\(index)`: \(reason.withoutFullStop)."
    case .damagedIndex(let collection, let index, let reason):
      "The index `\(index)` of \(collection) is damaged: \(reason). Build it anew with "
        + "`store.collection(\"\(collection)\").rebuildIndexes()`."
    case .damagedChangeLog(let what):
      "The store's change log is damaged: \(what). Documents are not concerned; read them anew."
    case .noCollection(let name):
      "There is no collection \(name). Save a document in it, or declare its type, first."
    case .consumerBusy(let name, let timeLeft):
      "The changes for `\(name)` are consumed elsewhere. Stop that one, or try again in "
        + "\(Int(timeLeft.seconds.rounded(.up))) seconds."
    case .consumerLost(let name) where name.isEmpty:
      "The batch was given to no named consumer. Only those of `store.changes(for:)` are acknowledged."
    case .consumerLost(let name):
      "The changes for `\(name)` are not this iteration's any more. Begin another; it starts "
        + "behind what was acknowledged."
    case .consumerName(let name):
      "`\(name.prefix(40))` cannot name a consumer: give 1 to 200 bytes of UTF-8 without zero."
    case .damagedConsumer(let name):
      "The position of the consumer `\(name)` is damaged. Its next iteration begins with a reset."
    case .unlogged(let collection):
      "\(collection) keeps no change log, so that it cannot be watched. Switch the log on with "
        + "`store.collection(\"\(collection)\").setChangeLog(true)`."
    case .uniqueViolation(let collection, let index, let value, let key, let otherKey):
      "\(collection) \(key) has \(value) in the unique index `\(index)`, as \(collection) "
        + "\(otherKey) has. Change one of them, or delete it."
    case .queryNotAllowed(let operation, let reason):
      "\(operation) takes everything that the filter matches: \(reason). Leave that out, or fetch "
        + "first and name the documents by their keys."
    case .unfinishedMigration(let collection, let version):
      "The documents of \(collection) are being migrated to version \(version), and some are "
        + "not yet. Finish it with `migrate(to: \(version))` of the program that began it."
    case .versionSkipped(let collection, let stored, let asked):
      "\(collection ?? "The store") stands at version \(stored) and cannot be migrated to "
        + "\(asked) in one step. Run the migration to \(stored + 1) first."
    case .keyTaken(let collection, let key, let taken):
      "\(collection) \(key) cannot have the key \(taken): another document has it. Delete one of "
        + "them, or give them different keys."
    case .collectionExists(let name):
      "\(name) holds documents already. Choose another name, or erase it first."
    case .renamingSynced(let collection):
      "\(collection) is synced, and the server knows its documents by this name. Keep it, and give the "
        + "type another name with `@Document(as: \"\(collection)\")`."
    case .cursorRefused(let collection, let reason):
      "The cursor does not go on with this query of \(collection): \(reason). Take the first page "
        + "again."
    case .sumOverflow(let collection, let field, let sum):
      "The sum of `\(field)` of \(collection) is \(sum), which the result cannot hold. Sum up fewer "
        + "documents at a time."
    case .predicateFailed(let collection, let key, let reason):
      "The predicate of a query cannot be evaluated on \(collection) \(key): \(reason). Have it ask "
        + "first whether it can, as with `?.` instead of `!`."
    case .queryTooDeep(let limit):
      "The conditions of a query nest more than \(limit) levels deep. Join neighbouring ones "
        + "with one `&&` or `||` after the other, or ask for several values with `isIn`."
    case .full(let shortage): shortage.description
    case .damagedBackup(let path, let problems):
      "The backup at \(path) is damaged: \(problems.joined(separator: "; ")). Nothing was changed. "
        + "Take another backup, or `Store.quarantine(at:)` on a copy of this one to save what is "
        + "whole."
    case .writeTimedOut(let path, let obstacle):
      "A write to \(path) did not get its turn in time, and nothing of it was written: \(obstacle). "
        + "Try again, or open the store with a longer `writeTimeout`."
    case .openTimedOut(let path, let holder):
      "The store at \(path) could not be opened in time: another process opens it, compacts or restores "
        + "it\(holder.map { " (\($0))" } ?? ""). Try again, end that process, or open the store with a "
        + "longer `openTimeout`."
    case .suspended(let path):
      "The store at \(path) is suspended, as the app put it to sleep. Call `resume()`, and try again."
    case .storage(let error): error.description
    }
  }
}

extension StoreError: LocalizedError {
  public var errorDescription: String? { description }
}

extension String {
  /// For a sentence that ends with it.
  var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
