public import Larder
public import LarderSync

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What an engine does, and what it waits for.
public struct SyncState: Sendable, Equatable {
  /// What it does.
  public enum Phase: Sendable, Equatable {
    /// Nothing, and everything is in step as far as it knows.
    case idle
    /// It brings changes down; so many documents of a scope so far. When a scope is loaded for the first time, and
    /// the remote counts, the second number says how many there are.
    case pulling(Int, of: Int? = nil)
    /// It sends edits; so many documents are left.
    case pushing(Int)
    /// The remote did not answer; the engine tries again by itself.
    case offline(String)
    /// The remote wants a (new) token. The engine asks again when `sync(.afterNow)` is called, when its `RefreshTrigger`
    /// fires, and after a day.
    case needsSignIn
    /// The user may not use a scope.
    case forbidden(String)
    /// The remote is not there any more or speaks another protocol, a document is larger than an answer may be, or the
    /// store fails: the text says why.
    case stopped(String)
    /// ``SyncEngine/pause()`` was called.
    case paused
  }

  /// What the engine does.
  public internal(set) var phase = Phase.idle
  /// Documents with edits that were not sent, those with conflicts and rejected ones among them.
  public internal(set) var pendingCount = 0
  /// Documents whose conflict waits for somebody.
  public internal(set) var conflictCount = 0
  /// Documents whose edit was rejected and set aside.
  public internal(set) var rejectedCount = 0
  /// Documents of the remote that could not be saved here: ``SyncEngine/refused()`` has them, with the reasons.
  public internal(set) var refusedCount = 0
  /// When the last sync of this engine succeeded, by the time of day; nil where none has yet.
  public internal(set) var lastSynced: Date?
}

/// An edit that the remote will not take as it is. The document stays as it is here; editing it makes another
/// edit, which is sent.
///
/// An edit without an answer may have been taken, which is why it is different: where the document is edited again,
/// the old edit is sent first, under its old id, and the new one when that is answered.
public struct RejectedEdit: Sendable, Equatable {
  /// Which document.
  public var key: RemoteKey
  /// What it is here; nil where it was deleted.
  public var document: DynamicDocument?
  /// For programs: what the remote said, or `too-large` or `damaged`; `unanswered` where it never answered; `refused`
  /// where the remote has another version, which cannot be saved here; `left` where others have taken the document out
  /// of the scopes that are followed, or may have deleted it.
  public var code: String
  /// For people.
  public var reason: String
}

/// An edit that was not sent.
public struct PendingEdit: Sendable, Equatable {
  /// What holds it up.
  public enum Status: Sendable, Equatable {
    /// Nothing: it goes with the next sync.
    case due
    /// It was sent, and the answer has not come.
    case sent
    /// It is in conflict, and somebody is to settle that.
    case conflict
    /// It was rejected.
    case rejected
  }

  /// Which document.
  public var key: RemoteKey
  /// What holds it up.
  public var status: Status
  /// Whether the edit is a deletion.
  public var isDeletion: Bool
}

/// A document of the remote that could not be saved here: it does not fit the collection's kinds, or the
/// values of a unique index, or its key is none that a document here can have, or is written in another way than
/// ``RemoteKey/key`` says.
public struct RefusedDocument: Sendable, Equatable {
  /// Which document.
  public var key: RemoteKey
  /// What the remote has.
  public var document: RemoteDocument
  /// Why it could not be saved.
  public var reason: String
}

extension RemoteError: RetryAdvising {
  /// A server that cannot be reached is asked again, and so is one whose answer makes no sense: it may come from
  /// something in between. What only a new token or another address can mend waits for that.
  public var retryAdvice: RetryAdvice {
    switch self {
    case .unavailable(_, let pause?): .after(pause)
    case .unavailable, .cursorExpired, .tooLarge, .forbidden, .malformed: .backoff
    case .needsSignIn, .gone: .whenTriggered
    }
  }
}
