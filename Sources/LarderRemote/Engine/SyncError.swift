#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why an engine cannot sync, apart from what the remote says.
public enum SyncError: Error, Sendable, Equatable {
  /// The store has edits of another account that were not sent. They are never sent under this one: open the
  /// store of the other account, or call ``SyncEngine/forgetAccount(of:in:)``.
  case otherAccount(pendingCount: Int)
  /// Since the engine was made, the store has become that of another account, or its account was forgotten. The
  /// engine saves and sends nothing any more: make another one.
  case accountChanged
  /// The name of the account is empty or too long: it has 1 to 1,000 bytes.
  case accountLength(byteCount: Int)
  /// The documents have no field that is their key, so that they cannot be named to a remote.
  case noKeyField(collection: String)
  /// There is no conflict or rejected edit of this document.
  case nothingToSettle(RemoteKey)
  /// The rules cannot merge the two versions of a document, such as where a closure of a rule throws. It can be
  /// settled in another way.
  case unmergeable(RemoteKey, reason: String)
  /// The collection is none of the engine's.
  case unknownCollection(String)
  /// The store has known 65,536 scopes, and can name no more. ``SyncEngine/forgetAccount(of:in:)`` begins anew.
  case tooManyScopes
}

extension SyncError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .otherAccount(let count):
      "the store belongs to another account and has \(count) edits of it that were not sent; "
        + "use a store for each account, or forget the other one first"
    case .accountChanged:
      "the store is no longer that of the account that the engine was made for; make another engine"
    case .accountLength(let count):
      "the name of the account has \(count) bytes, and not 1 to \(SyncEngine.mostAccountByteCount); "
        + "give the server's id of the user, or a digest of it"
    case .noKeyField(let collection):
      "\(collection) has no field that is the key of its documents; declare one with @Key, "
        + "or give `keyField:`"
    case .nothingToSettle(let key): "there is no conflict and no rejected edit of \(key)"
    case .unmergeable(let key, let reason):
      "\(key) cannot be merged, settle it in another way: \(reason)"
    case .unknownCollection(let name): "\(name) is not among the collections of the engine"
    case .tooManyScopes:
      "the store has known 65,536 scopes and can name no more; forget its account to begin anew"
    }
  }

  public var errorDescription: String? { description }
}
