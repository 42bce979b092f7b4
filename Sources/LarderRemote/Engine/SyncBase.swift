internal import Larder

/// What is known of the version of a document that a remote has: the revision, the scope that it came with,
/// and in which loading of that scope it was last seen.
///
/// ```
/// base = scope  loading  revision
///        2      1        0 to 200, UTF-8
/// ```
struct SyncBase: Equatable {
  var scope: UInt16
  var loading: UInt8
  var revision: String

  static let mostRevisionByteCount = 200
  /// The loading of what was learned from an answer to an edit. It may not show in a pull yet, and so is not
  /// missed by one.
  static let unseen: UInt8 = 255
  /// The loading of what was ``unseen``, and was not in a whole loading of the scope either: it was deleted
  /// there, or shows with the next pull.
  static let missed: UInt8 = 254
  /// The loading of what has left its scope, and may come with another one that is not read yet; and of a version that
  /// only a conflict has told of, without a scope.
  static let left: UInt8 = 253
  /// The same, in stores that were written before such documents had marks.
  private static let leftEarlier: UInt8 = 252

  /// The number of the loading behind another one.
  static func loading(after loading: UInt8) -> UInt8 { loading < leftEarlier - 1 ? loading + 1 : 1 }

  /// Whether the remote has no version of it any more: there was one, in this scope.
  var isOfNone: Bool { revision == SyncTables.noRevision }

  /// Whether the scope has it no more.
  var hasLeft: Bool { loading == Self.left || loading == Self.leftEarlier }

  init(scope: UInt16, loading: UInt8, revision: String) {
    self.scope = scope
    self.loading = loading
    self.revision = revision
  }

  /// Nil for bytes that are none.
  init?(_ bytes: [UInt8]?) {
    guard let bytes, bytes.count >= 3, let scope = Self.scope(in: bytes) else { return nil }
    self.scope = scope
    loading = bytes[2]
    revision = String(decoding: bytes[3...], as: UTF8.self)
  }

  /// Takes over with which scope and in which loading the version was seen, where it was kept while an edit
  /// was under way: the scope that the edit was sent to may be another one by now.
  mutating func noteSeen(_ newer: OutboxEntry.Version?) {
    if let seen = SyncBase(newer?.base), seen.revision == revision {
      scope = seen.scope
      loading = seen.loading
    }
  }

  var bytes: [UInt8] { Self.bytes(ofScope: scope) + [loading] + revision.utf8 }

  /// The number of a scope as it stands in a base, and where an edit was sent.
  static func bytes(ofScope number: UInt16) -> [UInt8] {
    [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  /// Nil for bytes that begin with none.
  static func scope(in bytes: [UInt8]) -> UInt16? {
    bytes.count < 2 ? nil : UInt16(bytes[0]) << 8 | UInt16(bytes[1])
  }
}

extension OutboxEntry {
  /// Whether it was edited from a version that the remote had. A deletion is one of that version, whatever stood here.
  var hasBase: Bool { (isDeleted || !isUnseen) && SyncBase(base)?.isOfNone == false }

  /// Whether somebody is to settle it.
  var isConflict: Bool { hold?.code == "" }

  /// Forgets the version that waits beside the edit, where it came with a scope that no longer has the document. In a
  /// conflict somebody has seen it: it stays, as one that has left.
  ///
  /// - Returns: Whether there was one.
  mutating func leaveNewer(of scope: UInt16) -> Bool {
    guard var base = SyncBase(newer?.base), base.scope == scope else { return false }
    if isConflict {
      base.loading = SyncBase.left
      newer?.base = base.bytes
    } else {
      newer = nil
    }
    return true
  }
}
