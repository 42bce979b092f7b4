public import Larder

/// A collection that a ``SyncEngine`` keeps in step with a remote.
public struct SyncedCollection: Sendable {
  /// Which way documents go.
  public enum Direction: Sendable {
    /// Down only: edits made here stay here. Where another engine sends the store's edits, it decides about
    /// documents that were changed on both sides; until then they are as they were edited here.
    case down
    /// Up and down.
    case both
  }

  /// What becomes of the documents that stand in the collection when it is first synced.
  public enum Existing: Sendable {
    /// They are sent, as if they were made then.
    case sent
    /// They stay here until they are edited.
    case kept
  }

  let name: String
  let type: (any Document.Type)?
  /// Fields that a document needs for this type to read it, even where the catalogue does not require them.
  let requiredFields: [String]
  let keyField: String?
  let direction: Direction
  let rules: MergeRules
  let deletions: DeletionPolicy
  let existing: Existing
  let resolver: (@Sendable (SyncConflict) -> Resolution)?
  let scope: (@Sendable (DynamicDocument) -> String?)?
  let upgrade: (@Sendable (inout DynamicDocument) throws -> Void)?

  /// A collection of a type.
  ///
  /// - Parameters:
  ///   - direction: Which way documents go.
  ///   - rules: How fields are merged that were changed on both sides, where it is not as `@Merge` in front
  ///     of the type's properties says.
  ///   - deletions: What becomes of a document that was changed on one side and deleted on the other.
  ///   - existing: What becomes of documents that are there before the collection is first synced.
  ///   - scope: In which scope of the remote a document belongs, by its stored fields; nil for the one that it
  ///     is in, or the engine's first scope where it is new. While the engine does not follow that scope, the
  ///     document's edits wait.
  ///   - resolver: Decides instead of the rules.
  ///   - upgrade: Brings a document into the form that this version of the app uses: one that the remote still has as
  ///     an earlier version has sent it. It gets every document that comes, those of the right form too, and leaves
  ///     their key alone. A field holds a value of the kind that the collection gives it, where the JSON can be read as
  ///     one, and otherwise what the JSON says. A document for which it throws is one that cannot be saved
  ///     (``SyncEngine/refused()``).
  public init<Entity: Document>(
    _ type: Entity.Type, direction: Direction = .both, rules: MergeRules = [:],
    deletions: DeletionPolicy = .editWins, existing: Existing = .sent,
    resolver: (@Sendable (SyncConflict) -> Resolution)? = nil,
    scope: (@Sendable (DynamicDocument) -> String?)? = nil,
    upgrade: (@Sendable (inout DynamicDocument) throws -> Void)? = nil
  ) {
    self.init(
      Entity.schema.name, type: type,
      requiring: Entity.schema.fields.filter(\.isRequired).map(\.name),
      keyField: Entity.schema.keyField, direction, rules.over(Entity.schema), deletions, existing,
      scope, resolver, upgrade)
  }

  /// A collection without a type.
  ///
  /// - Parameter keyField: The field that is the key, where the collection does not exist yet.
  public init(
    _ name: String, keyField: String? = nil, direction: Direction = .both, rules: MergeRules = [:],
    deletions: DeletionPolicy = .editWins, existing: Existing = .sent,
    resolver: (@Sendable (SyncConflict) -> Resolution)? = nil,
    scope: (@Sendable (DynamicDocument) -> String?)? = nil,
    upgrade: (@Sendable (inout DynamicDocument) throws -> Void)? = nil
  ) {
    self.init(
      name, type: nil, requiring: [], keyField: keyField, direction, rules, deletions, existing,
      scope, resolver, upgrade)
  }

  private init(
    _ name: String, type: (any Document.Type)?, requiring requiredFields: [String],
    keyField: String?, _ direction: Direction, _ rules: MergeRules, _ deletions: DeletionPolicy,
    _ existing: Existing,
    _ scope: (@Sendable (DynamicDocument) -> String?)?,
    _ resolver: (@Sendable (SyncConflict) -> Resolution)?,
    _ upgrade: (@Sendable (inout DynamicDocument) throws -> Void)?
  ) {
    self.name = name
    self.type = type
    self.requiredFields = requiredFields
    self.keyField = keyField
    self.direction = direction
    self.rules = rules
    self.deletions = deletions
    self.existing = existing
    self.scope = scope
    self.resolver = resolver
    self.upgrade = upgrade
  }
}
