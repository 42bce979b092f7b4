/// Where a step of eviction has stopped, for the next one to go on behind: it went past as many
/// documents with unsent edits as a step may.
///
/// Kept in memory alone: who has none begins with the oldest document.
struct EvictionPlace: Sendable {
  let position: Position
  /// Documents with unsent edits that come before it, counted as the rule counts.
  let passedAmount: Int

  /// Each rule of a collection has a place of its own.
  struct ID: Hashable, Sendable {
    let collection: String
    let rule: Int
  }
}
