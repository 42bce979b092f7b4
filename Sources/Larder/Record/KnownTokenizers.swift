internal import LarderLMDB

/// The tokenizers of apps that this process knows of: those in the store's options, and those of types and indexes that
/// were used. It forgets none.
///
/// A search index with another one waits: this process can neither keep it nor build it.
final class KnownTokenizers: Sendable {
  private struct State {
    /// By identifier, in bytes.
    var tokenizers: [[UInt8]: SearchTokenizer] = [:]
    var wake: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Of collections that belong to no store.
  static let none = KnownTokenizers()

  /// - Parameter wake: Called when there is another one, from any thread.
  func start(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  func add(_ tokenizer: SearchTokenizer) {
    guard let identifier = tokenizer.identifier else { return }
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      let key = Array(identifier.utf8)
      guard state.tokenizers[key] == nil else { return nil }
      state.tokenizers[key] = tokenizer
      return state.wake
    }
    wake?()
  }

  /// The tokenizer of an index; nil where this process does not have it.
  ///
  /// - Parameter identifier: Nil for the standard one.
  subscript(identifier: String?) -> SearchTokenizer? {
    guard let identifier else { return .standard }
    return state.withLock { $0.tokenizers[Array(identifier.utf8)] }
  }
}
