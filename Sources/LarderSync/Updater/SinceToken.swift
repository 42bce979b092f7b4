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
    var stored: [UInt8]?
    /// What this process has reached from there.
    var reached: String?
    /// How often it was forgotten here.
    var forgetCount = 0
  }

  /// Where a page begins.
  struct Start: Sendable {
    /// What the remote is asked with.
    let token: String?
    fileprivate let stored: [UInt8]?
    fileprivate let forgetCount: Int
  }

  /// The token was forgotten since a page was asked for, or another process has gone on: the page does not
  /// follow on what the store has, and nothing of it was saved.
  struct Outdated: Error, CustomStringConvertible {
    var description: String {
      "the token was forgotten, or another process has gone on, each time that a page was on its way"
    }
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
  public func current() throws -> String? { try start().token }

  /// Where the next page begins.
  ///
  /// - Throws: `StoreError`.
  func start() throws -> Start {
    let stored = try store.read { try $0.note(noteName) }
    return state.withLock { state in
      // Otherwise another process has gone on, or has forgotten.
      if state.stored != stored { (state.stored, state.reached) = (stored, nil) }
      return Start(
        token: state.reached ?? stored.flatMap(Self.token), stored: stored,
        forgetCount: state.forgetCount)
    }
  }

  /// The token in a note; nil where it was forgotten.
  private static func token(_ note: [UInt8]) -> String? {
    switch note.first {
    case 0: nil
    case 1: String(decoding: note.dropFirst(), as: UTF8.self)
    default: String(decoding: note, as: UTF8.self)
    }
  }

  /// The note of a token. One that begins with U+0000 or U+0001 has a byte in front, which tells it from a forgotten one.
  static func note(of token: String) -> [UInt8] {
    let bytes = [UInt8](token.utf8)
    return bytes.first ?? .max <= 1 ? [1] + bytes : bytes
  }

  /// The note of a forgotten token. It is different each time, so that a page which was asked for before does not
  /// follow on it, even if there was no token yet.
  private static func forgottenNote() -> [UInt8] {
    [0] + withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { [UInt8]($0) }
  }

  /// Forgets the token, so that the next sync begins from the start. So does one that is under way: a page
  /// that it has asked for before, and that is not saved yet, is not saved any more.
  ///
  /// - Throws: `StoreError`; the token that the store keeps is as it was then.
  public func forget() async throws {
    let (noteName, state) = (noteName, state)
    try await store.write { scope in
      try scope.setNote(noteName, to: Self.forgottenNote())
      // Within the transaction: no page that was asked for before can come between.
      state.withLock { $0 = State(forgetCount: $0.forgetCount + 1) }
    }
  }

  /// Runs the save of a page, which keeps `token` in its own transaction.
  ///
  /// - Throws: What `save` throws; the token is as it was then. ``Outdated``, which undoes the save.
  func keeping<Result>(
    _ token: String, from start: Start, _ save: () async throws -> Result
  ) async throws -> Result {
    let isOutdated = Locked(false)
    let note = AttachedNote(noteName, Self.note(of: token), in: store) { [state] stored in
      let isCurrent =
        stored == start.stored
        && state.withLock { $0.forgetCount } == start.forgetCount
      if isCurrent { return true }
      isOutdated.withLock { $0 = true }
      throw Outdated()
    }
    let result: Result
    do {
      result = try await note.attached(to: save)
    } catch {
      // It has saved something and failed after that. What it has not saved must come again; if that
      // cannot be noted, that is the graver failure.
      if note.isKept { try await takeBack(token, to: start) }
      // Whatever the save has made of that error.
      if isOutdated.withLock({ $0 }) { throw Outdated() }
      throw error
    }
    if isOutdated.withLock({ $0 }) { throw Outdated() }
    state.withLock { state in
      // Forgotten behind the save, or while it found nothing to change.
      guard state.forgetCount == start.forgetCount else { return }
      (state.stored, state.reached) = (note.isKept ? Self.note(of: token) : start.stored, token)
    }
    return result
  }

  /// Keeps what was kept before a page, unless somebody has gone on or forgotten since.
  private func takeBack(_ token: String, to start: Start) async throws {
    let (noteName, state) = (noteName, state)
    try await store.write { scope in
      guard try scope.note(noteName) == Self.note(of: token),
        state.withLock({ $0.forgetCount }) == start.forgetCount
      else { return }
      try scope.setNote(noteName, to: start.stored)
    }
  }
}
