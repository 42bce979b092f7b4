public import Larder
internal import LarderLMDB

/// Up to where a remote's changes were saved, in the remote's own terms: kept in the store, each time in
/// the transaction of the save that makes it true.
///
/// ```swift
/// let since = SinceToken(named: "stations", in: store)
/// let updater = RemoteUpdater(limiter: limiter, since: since) { token in
///   let page = try await server.changes(since: token)
///   return .fromRemote(Delta(page.stations, token: page.cursor, isLast: !page.hasMore))
/// } save: { stations, origin in
///   try await repository.save(stations, as: origin)
/// }
/// ```
/// A page that changes nothing writes no token either: this process remembers it, and a later one asks
/// from the token before.
///
/// Who erases the data calls ``forget()`` first: a remote that is asked for changes does not send again
/// what it has sent already. Documents that age out of the store do not come back by themselves, either.
public final class SinceToken: Sendable {
  static let maximumByteCount = 256

  private struct State {
    /// What the store had when it was read or written last.
    var stored: String?
    /// What this process has reached from there.
    var reached: String?
  }

  private let store: Store
  private let noteName: String
  private let state = Locked(State())

  /// - Parameter name: What is fetched, 1 to 100 bytes of UTF-8.
  public init(named name: String, in store: Store) {
    precondition((1...100).contains(name.utf8.count), "a token's name has 1 to 100 bytes")
    self.store = store
    noteName = "since/" + name
  }

  /// The token with which the remote is asked next; nil to begin from the start.
  ///
  /// - Throws: `StoreError`.
  public func current() throws -> String? {
    let stored = try read()
    return state.withLock { state in
      if let reached = state.reached, state.stored == stored { return reached }
      // Another process has gone on.
      state = State(stored: stored)
      return stored
    }
  }

  /// Forgets the token, so that the next sync begins from the start.
  ///
  /// - Throws: `StoreError`; the token is as it was then.
  public func forget() async throws {
    try await write(nil)
    state.withLock { $0 = State() }
  }

  /// Runs a save, which keeps `token` in its own transaction.
  ///
  /// - Throws: What `save` throws; the token is as it was then.
  func keeping<Result>(_ token: String, _ save: () async throws -> Result) async throws -> Result {
    let before = try read()
    let note = AttachedNote(noteName, [UInt8](token.utf8), in: store)
    do {
      let result = try await note.attached(to: save)
      state.withLock { $0 = State(stored: note.isKept ? token : before, reached: token) }
      return result
    } catch {
      // It has saved something and failed after that. What it has not saved must come again; if that
      // cannot be noted, that is the graver failure.
      if note.isKept { try await write(before) }
      throw error
    }
  }

  private func read() throws -> String? {
    try store.read { try $0.note(noteName) }.map { String(decoding: $0, as: UTF8.self) }
  }

  private func write(_ token: String?) async throws {
    let (noteName, bytes) = (noteName, token.map { [UInt8]($0.utf8) })
    try await store.write { try $0.setNote(noteName, to: bytes) }
  }
}
