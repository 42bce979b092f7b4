/// What a save does with a document whose key is stored already.
///
/// Of documents with one key in one save the last wins, before any of this.
public enum ConflictPolicy<Model: Sendable>: Sendable {
  /// The new one takes the stored one's place: what is in memory wins.
  case replace
  /// The stored one stays as it is, and counts as unchanged.
  case keepExisting
  /// What the closure makes of both is stored. It runs inside the write, so it sees what is
  /// really there and must not write itself; an error that it throws ends the save, of which
  /// nothing is kept. It may be asked about documents that a later one of the same save replaces.
  case merge(@Sendable (_ stored: Model, _ new: Model) throws -> Model)
}
