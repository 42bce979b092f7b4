internal import LarderLMDB

/// What several writers have been told was accepted, for those who read meanwhile.
final class RemoteWriting: Sendable {
  private struct State {
    var written: [RemoteKey: String] = [:]
    var writerCount = 0
  }

  private let state = Locked(State())

  var written: [RemoteKey: String] { state.withLock { $0.written } }
  var isGoing: Bool { state.withLock { $0.writerCount > 0 } }

  func begin() { state.withLock { $0.writerCount += 1 } }
  func end() { state.withLock { $0.writerCount -= 1 } }
  func note(_ key: RemoteKey, _ revision: String) { state.withLock { $0.written[key] = revision } }
}
