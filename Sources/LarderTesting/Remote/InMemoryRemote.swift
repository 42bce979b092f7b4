internal import LarderLMDB
public import LarderRemote
public import LarderSync

/// A sync server in memory that keeps every promise of a `Remote`, for tests of what stands above one.
///
/// ```swift
/// let server = InMemoryRemote()
/// let tablet = server.signedIn(as: "anna")
/// let phone = server.signedIn(as: "anna")
/// server.script { call, number in number == 3 ? .losesAnswer : nil }
/// ```
/// The server is itself the remote of a user called "me". Everybody may read and write every scope until
/// ``allow(_:reading:writing:)`` says otherwise.
///
/// Nothing in it is drawn by lot and no time is read: the same calls in the same order give the same revisions
/// and cursors. A pull costs what its page costs, whatever else the server has.
public final class InMemoryRemote: Remote {
  struct State {
    var tables = InMemoryTables()
    var facts: RemoteFacts
    var access: [String: InMemoryAccess] = [:]
    var script: (@Sendable (RemoteCall, Int) -> RemoteFault?)?
    var callCount = 0
    var listeners: [Int: InMemoryListener] = [:]
    var listenerCount = 0
  }

  let state: Locked<State>
  let clock: any SyncClock
  private let calls = Tally<RemoteCall>()

  /// A server without documents.
  ///
  /// - Parameters:
  ///   - facts: What it says of itself, and the limits that it keeps.
  ///   - clock: What ``RemoteFault/delays(_:)`` waits by.
  public init(facts: RemoteFacts = .ofInMemoryRemote, clock: any SyncClock = SystemClock()) {
    state = Locked(State(facts: facts))
    self.clock = clock
  }

  /// A server that goes its own way from here on, with the documents, access and notes of this one, and no
  /// script: what would come of a call can be tried on it.
  public func copy() -> InMemoryRemote {
    let (tables, facts, access) = state.withLock { ($0.tables, $0.facts, $0.access) }
    let copy = InMemoryRemote(facts: facts, clock: clock)
    copy.state.withLock { ($0.tables, $0.access) = (tables, access) }
    return copy
  }

  /// The remote of a user.
  public func signedIn(as user: String) -> some Remote { InMemoryClient(server: self, user: user) }

  /// From now on a user may read some scopes, and write some of them; no others.
  public func allow(_ user: String, reading: Set<String>, writing: Set<String>) {
    state.withLock {
      $0.access[user] = InMemoryAccess(readable: reading.union(writing), writable: writing)
    }
  }

  /// What goes wrong with calls from now on. The closure gets each call, of whichever user, with its number,
  /// the first being 1, before the server looks at it. The closure may use the server, for example to change a
  /// document as another client would at that moment. It can run for several calls at the same time.
  public func script(_ script: (@Sendable (_ call: RemoteCall, _ number: Int) -> RemoteFault?)?) {
    state.withLock { $0.script = script }
  }

  /// What it says of itself, and the limits that it keeps.
  public var currentFacts: RemoteFacts {
    get { state.withLock { $0.facts } }
    set { state.withLock { $0.facts = newValue } }
  }

  /// Every call so far, in the order in which they came.
  public var recordedCalls: [RemoteCall] { calls.elements }

  /// Returns when there were so many calls.
  public func waitForCalls(_ count: Int) async { await calls.wait(for: count) }

  // MARK: The remote of the user "me"

  public func facts() async throws -> RemoteFacts { try await me.facts() }
  public func pull(_ request: PullRequest) async throws -> PullAnswer { try await me.pull(request) }
  public func push(_ request: PushRequest) async throws -> [PushResult] {
    try await me.push(request)
  }
  public func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? {
    me.hints(scopes)
  }
  public func count(_ scope: String) async throws -> Int? { try await me.count(scope) }
  public func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await me.manifest(request)
  }

  private var me: InMemoryClient { InMemoryClient(server: self, user: "me") }

  /// Notes a call, and does `body` as the script says; `putsOff` is left to it.
  func perform<Answer>(
    _ call: RemoteCall, _ body: (inout State, RemoteFault?) throws -> Answer
  ) async throws -> Answer {
    let (script, number) = state.withLock { state in
      state.callCount += 1
      calls.append(call)
      return (state.script, state.callCount)
    }
    // Outside of the lock, as the script may use the server.
    let fault = script?(call, number)
    switch fault {
    case .fails(let error): throw error
    case .delays(let duration): try await clock.sleep(for: duration)
    default: break
    }
    var answer = try told { try body(&$0, fault) }
    switch fault {
    case .losesAnswer: throw RemoteError.unavailable("the answer got lost")
    case .arrivesTwice: answer = try told { try body(&$0, fault) }
    case .delaysAnswer(let duration): try await clock.sleep(for: duration)
    default: break
    }
    try Task.checkCancellation()
    return answer
  }

  /// Does `body`, and tells the listeners of the scopes that it changed.
  func told<Answer>(_ body: (inout State) throws -> Answer) throws -> Answer {
    let (answer, listeners) = try state.withLock { state in
      let answer = try body(&state)
      let changed = state.tables.takeChangedScopes()
      let listeners = changed.isEmpty ? [] : Array(state.listeners.values)
      return (answer, listeners.map { ($0, changed.intersection($0.scopes)) })
    }
    for (listener, scopes) in listeners {
      for scope in scopes.sorted() { listener.continuation.yield(scope) }
    }
    return answer
  }
}

extension RemoteFacts {
  /// With counts and manifests, and the limits that every remote has at least.
  public static var ofInMemoryRemote: RemoteFacts {
    var facts = RemoteFacts()
    facts.hasCount = true
    facts.hasManifest = true
    return facts
  }
}

/// What a user may do.
struct InMemoryAccess {
  var readable: Set<String>
  var writable: Set<String>
}

/// Somebody who is told of changes.
struct InMemoryListener {
  var scopes: Set<String>
  var continuation: AsyncThrowingStream<String, any Error>.Continuation
}
