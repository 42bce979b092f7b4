/// Where a change came from.
public enum ChangeOrigin: UInt8, Sendable, Hashable, CaseIterable {
  /// The app itself.
  case local = 0
  /// An importer.
  case imported = 1
  /// A pull from a remote. Of a synced collection it leaves documents alone whose edits were not sent yet.
  case sync = 2
  /// Ageing: the document was too old, or one too many.
  case expiry = 3

  /// Whether a remote is to be told of the change.
  var isEdit: Bool { self == .local || self == .imported }
}
