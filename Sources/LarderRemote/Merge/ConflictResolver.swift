public import Larder

/// A document that was changed both here and on the remote.
public struct SyncConflict: Sendable, Equatable {
  /// Which document.
  public var key: RemoteKey
  /// What both began with; nil where there was nothing, or where it is not known any more.
  public var before: DynamicDocument?
  /// What it is here; nil where it was deleted.
  public var here: DynamicDocument?
  /// What it is on the remote; nil where it was deleted.
  public var there: DynamicDocument?
  /// Why the rules could not merge the two; nil where they were not asked.
  public var reason: String?
}

/// What becomes of a ``SyncConflict``.
public enum Resolution: Sendable, Equatable {
  /// Field by field, as the rules of the collection say: what is done without a resolver.
  case merged
  /// This document, under the same key; nil deletes it.
  case document(DynamicDocument?)
  /// What stands here.
  case here
  /// What the remote has.
  case there
  /// Both: the remote's version stays, and the one from here is kept under another key. It replaces a document that
  /// stands under that key, as a save does; so choose a key of its own, such as a new UUID.
  case both(key: Value)
  /// Somebody is asked. The document stays as it is here, and is not sent, until
  /// ``SyncEngine/settle(_:as:)`` is called.
  case ask
}
