/// A backend that a ``SyncEngine`` keeps a store in step with: three functions, of which the third is
/// optional.
///
/// ``HTTPRemote`` speaks to any server that follows the sync protocol. For an API of your own, implement
/// ``pull(_:)`` and ``push(_:)``, or hand closures to ``ClosureRemote``.
///
/// What a remote promises:
///
/// 1. **No gaps.** Whatever is committed shows in some pull behind every cursor that was given out before.
///    Numbers and times that are drawn before the commit do not keep this promise by themselves; say
///    `hasGaps` in ``RemoteFacts`` then.
/// 2. **Compare and set.** Of two mutations with the same base one is accepted at most.
/// 3. **Once.** A mutation that comes again under its id is answered as before.
/// 4. **Accepted means stored**, and no later failure takes it back.
///
/// Every function throws ``RemoteError`` for what the engine knows how to treat; any other error counts as
/// ``RemoteError/unavailable(_:retryAfter:)``.
public protocol Remote: Sendable {
  /// What the remote can do, and its limits. Asked once, and again after a failure.
  func facts() async throws -> RemoteFacts

  /// What has changed in a scope behind a cursor.
  func pull(_ request: PullRequest) async throws -> PullAnswer

  /// Sends edits.
  ///
  /// - Returns: One result for each mutation, in the same order.
  func push(_ request: PushRequest) async throws -> [PushResult]

  /// An element whenever a pull may give something new: the name of the scope. It may end or throw at any
  /// time; the engine then opens it again. Nil where there is no such thing, which is the default.
  func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>?

  /// How many documents a scope has; nil while that is not settled, or where the remote cannot tell, which is
  /// the default.
  func count(_ scope: String) async throws -> Int?

  /// Which documents a scope has, in the order of collection and key; for tools that compare, where
  /// ``RemoteFacts/hasManifest``. Larder's engine does not ask for it.
  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer
}

extension Remote {
  public func facts() async throws -> RemoteFacts { RemoteFacts() }

  public func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? { nil }

  public func count(_ scope: String) async throws -> Int? { nil }

  public func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    ManifestAnswer(entries: [], hasMore: false)
  }
}

/// What a remote can do, and its limits.
public struct RemoteFacts: Sendable, Equatable {
  /// Mutations in one push at most.
  public var maximumMutationCount = 100
  /// Bytes of the documents in one push at most.
  public var maximumPushByteCount = 1 << 20
  /// Pushes under way at once at most. No two of them have the same document, and none waits for another, so that
  /// they may be done in any order.
  public var maximumConcurrentPushCount = 1
  /// Changes in one pull at most.
  public var maximumChangeCount = 1000
  /// Whether ``Remote/count(_:)`` says how many documents there are.
  public var hasCount = false
  /// Whether ``Remote/manifest(_:)`` lists them.
  public var hasManifest = false
  /// Whether a pull may leave out what was committed late, so that the engine compares the number of documents more
  /// often. It does not find a change that was left out, nor a deletion that was left out together with a new
  /// document: a remote should have no gaps.
  public var hasGaps = false

  /// The defaults are what every remote has to be able to do.
  public init() {}
}

/// A document of a remote under its name: a collection, and a key that is unique in it.
public struct RemoteKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The collection.
  public var collection: String
  /// The key as text: for a string as it is, in Unicode's normalisation form C; for an integer digits without zeros in
  /// front; for a UUID 36 characters, with small letters (`uuidString.lowercased()`). A document of a remote whose key
  /// is written in another way is refused, as it would be another one there. It is not where nothing is sent
  /// (``SyncedCollection/Direction/down``).
  public var key: String

  /// A document's name.
  public init(_ collection: String, _ key: String) {
    self.collection = collection
    self.key = key
  }

  /// Whether they have the same bytes: a remote may have two documents whose keys are the same character in two forms.
  public static func == (a: RemoteKey, b: RemoteKey) -> Bool {
    a.collection.utf8.elementsEqual(b.collection.utf8) && a.key.utf8.elementsEqual(b.key.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var (collection, key) = (collection, key)
    collection.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // A byte of no text.
    hasher.combine(0xFF as UInt8)
    key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// By the bytes of the collection and then of the key.
  public static func < (a: RemoteKey, b: RemoteKey) -> Bool {
    a.collection.utf8.elementsEqual(b.collection.utf8)
      ? a.key.utf8.lexicographicallyPrecedes(b.key.utf8)
      : a.collection.utf8.lexicographicallyPrecedes(b.collection.utf8)
  }

  public var description: String { "\(collection)/\(key)" }
}

/// Asks for changes.
public struct PullRequest: Sendable, Equatable {
  /// The name of what is followed.
  public var scope: String
  /// From the last answer; nil for the beginning.
  public var cursor: String?
  /// The most changes that are wanted at once.
  public var limit: Int

  /// A request for changes.
  public init(scope: String, cursor: String? = nil, limit: Int) {
    self.scope = scope
    self.cursor = cursor
    self.limit = limit
  }
}

/// Changes, and how far they go.
public struct PullAnswer: Sendable, Equatable {
  /// What documents are now, in no particular order; a document stands at most once.
  public var changes: [RemoteChange]
  /// Behind them.
  public var cursor: String
  /// Whether to ask again at once. The cursor is then another one than the request's; the engine takes one
  /// that stands still for ``RemoteError/malformed(_:)``, and does not save the page.
  public var hasMore: Bool

  /// An answer to a pull.
  public init(changes: [RemoteChange], cursor: String, hasMore: Bool) {
    self.changes = changes
    self.cursor = cursor
    self.hasMore = hasMore
  }
}

/// What a document is now.
public struct RemoteChange: Sendable, Equatable {
  /// Whether there is one.
  public enum Content: Sendable, Equatable {
    /// It is this.
    case document(RemoteDocument)
    /// It was deleted.
    case deleted
    /// It is in another scope now: it is forgotten here, and not deleted there.
    case left
  }

  /// Which document.
  public var key: RemoteKey
  /// The name of this version, 1 to 200 bytes. Revisions are compared for equality and nothing else.
  public var revision: String
  /// What it is.
  public var content: Content

  /// A change of a document.
  public init(_ key: RemoteKey, revision: String, _ content: Content) {
    self.key = key
    self.revision = revision
    self.content = content
  }
}

/// Sends edits.
public struct PushRequest: Sendable, Equatable {
  /// The scope that the documents are in, or come into.
  public var scope: String
  /// At most one for each document.
  public var mutations: [Mutation]

  /// A request to take edits.
  public init(scope: String, mutations: [Mutation]) {
    self.scope = scope
    self.mutations = mutations
  }
}

/// One edit: a document that is created, changed or deleted.
public struct Mutation: Sendable, Equatable {
  /// A UUID in small letters. The same edit keeps it until it is answered.
  public var id: String
  /// Which document.
  public var key: RemoteKey
  /// The revision that was edited; nil for a new document.
  public var base: String?
  /// The document; nil where it is deleted.
  public var document: RemoteDocument?

  /// An edit.
  public init(id: String, key: RemoteKey, base: String?, document: RemoteDocument?) {
    self.id = id
    self.key = key
    self.base = base
    self.document = document
  }
}

/// What became of a mutation.
public enum PushResult: Sendable, Equatable {
  /// It is stored for good, as this revision. Empty where a document was to be deleted that was not there.
  case accepted(revision: String)
  /// Another version stands there, whose revision has 1 to 200 bytes. Nil where the document is not there and never
  /// was.
  case conflict(RemoteVersion?)
  /// It can never be accepted as it is. `code` is for programs, `reason` for people.
  case rejected(code: String, reason: String)
  /// Nothing was done with it; it may be sent again.
  case retry
}

/// A version of a document; of a deleted one, its tombstone.
public struct RemoteVersion: Sendable, Equatable {
  /// Its revision.
  public var revision: String
  /// The document; nil where it was deleted.
  public var document: RemoteDocument?

  /// A version.
  public init(revision: String, document: RemoteDocument?) {
    self.revision = revision
    self.document = document
  }
}

/// Asks which documents there are.
public struct ManifestRequest: Sendable, Equatable {
  /// The scope.
  public var scope: String
  /// Nil for the beginning.
  public var after: RemoteKey?
  /// How many at most.
  public var limit: Int

  /// A request for names and revisions.
  public init(scope: String, after: RemoteKey? = nil, limit: Int) {
    self.scope = scope
    self.after = after
    self.limit = limit
  }
}

/// Which documents there are.
public struct ManifestAnswer: Sendable, Equatable {
  /// A document's name and revision.
  public struct Entry: Sendable, Equatable {
    /// Which document.
    public var key: RemoteKey
    /// Its revision.
    public var revision: String

    /// An entry.
    public init(_ key: RemoteKey, revision: String) {
      self.key = key
      self.revision = revision
    }
  }

  /// In the order of collection and key.
  public var entries: [Entry]
  /// Whether more follow.
  public var hasMore: Bool

  /// An answer to a ``ManifestRequest``.
  public init(entries: [Entry], hasMore: Bool) {
    self.entries = entries
    self.hasMore = hasMore
  }
}
