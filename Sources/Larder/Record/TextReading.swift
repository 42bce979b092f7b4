internal import Synchronization

/// Reading documents that were made of JSON, which has nothing but text for dates, UUIDs, URLs, data and
/// decimals. Text in a field whose kind the catalogue knows was made one already; in a field of any kind
/// only the type can tell. It is never read so from a store: there, text is text.
final class TextReading: Sendable {
  private let hasRead = Atomic(false)

  /// Whether text was read as something else since this was last asked.
  func takeHasRead() -> Bool { hasRead.exchange(false, ordering: .relaxed) }

  func note() { hasRead.store(true, ordering: .relaxed) }
}
