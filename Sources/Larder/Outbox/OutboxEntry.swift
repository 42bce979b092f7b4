internal import LarderLMDB

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a store keeps of a document that was edited here and that a remote has not accepted yet. The
/// document itself stands where all documents stand; this is what merging and sending need beside it.
///
/// Records are the bytes of `documents/<collection>`, with their checksums.
///
/// ```
/// entry = version  part x n  checksum
///         1                  8, little-endian, seeded with the hash of the key
/// part  = tag  count  bytes
///         1    4
/// tags  : 1 sequence, 8     2 base           3 shadow            4 mutation, 16    5 sent
///         6 attempts, 4     7 newer base     8 newer record      9 hold: code 00 reason
///         10 it was edited since it was sent, 0 bytes            11 it was deleted, 0 bytes
///         12 where it was sent
/// ```
/// Numbers are big-endian. An empty record stands for a document that is deleted; an empty shadow says that no document
/// stood here when it was made, although the remote had one: it was evicted.
package struct OutboxEntry: Sendable, Equatable {
  /// What a remote had, or has, under a key.
  package struct Version: Sendable, Equatable {
    /// The remote's name for it, as the layer above wrote it: 1 to 255 bytes.
    package var base: [UInt8]
    /// The record; nil where it is deleted there.
    package var record: [UInt8]?

    package init(base: [UInt8], record: [UInt8]?) {
      self.base = base
      self.record = record
    }
  }

  /// An edit under way: sent, and not answered yet.
  package struct Flight: Sendable, Equatable {
    /// The edit's name: it keeps it until it is answered.
    package var mutation: UUID
    /// Where it was sent, as the layer above wrote it; nil where that is not known.
    package var destination: [UInt8]?
    /// The record that was sent, if the document has changed since, by an edit or otherwise. The outer nil means that
    /// it has not changed, the inner one that a deletion was sent.
    package var sent: [UInt8]??
    /// Whether the document was edited since. Then ``sent`` is known.
    package var isEdited = false

    package init(mutation: UUID, destination: [UInt8]? = nil) {
      self.mutation = mutation
      self.destination = destination
    }
  }

  /// Why an edit is not sent before somebody has looked at it.
  package struct Hold: Sendable, Equatable {
    /// For programs; empty for a conflict that somebody is to settle.
    package var code: String
    /// For people.
    package var reason: String

    package init(code: String, reason: String) {
      self.code = code
      self.reason = reason
    }
  }

  /// The number of the last change before the first edit: what was edited first is sent first.
  package var sequence: UInt64 = 0
  /// The remote's version that was edited; nil for a document that it did not have.
  package var base: [UInt8]? { didSet { isUnseen = false } }
  /// The record of that version; nil where there was none, or where it is not known.
  package var shadow: [UInt8]?
  /// Whether the document was made here while the version that ``base`` names did not stand here, because it was
  /// evicted: the edit did not begin with that version. Setting ``base`` ends it, as another version is known then.
  package var isUnseen = false
  package var flight: Flight?
  /// How often it was sent without an answer that settled it.
  package var attemptCount: UInt32 = 0
  /// A version that the remote told of while an edit was under way, or that is in conflict with it.
  package var newer: Version?
  package var hold: Hold?
  /// Whether the last edit was a deletion. Where it was not, and there is no document, it was taken away by
  /// something that is no edit, and nothing is to be sent.
  package var isDeleted = false

  package init() {}

  /// Whether it was edited since it was sent.
  package var isEditedInFlight: Bool { flight?.isEdited ?? false }
}

extension OutboxEntry {
  private static let version: UInt8 = 1

  private enum Tag: UInt8 {
    case sequence = 1
    case base, shadow, mutation, sent, attempts, newerBase, newerRecord, hold, edited, deleted
    case destination
  }

  func encoded(key: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes = OrderedBytes(capacity: 256)
    encode(into: &bytes, key: key)
    return [UInt8](bytes.bytes)
  }

  /// Writes the entry in the place of what stands in `bytes`.
  func encode(into bytes: inout OrderedBytes, key: UnsafeRawBufferPointer) {
    Self.begin(sequence, &bytes)
    if let base { base.withUnsafeBytes { Self.put(.base, $0, &bytes) } }
    if isDeleted { Self.put(.deleted, Self.nothing, &bytes) }
    if let shadow = isUnseen ? [] : shadow {
      shadow.withUnsafeBytes { Self.put(.shadow, $0, &bytes) }
    }
    if let flight {
      withUnsafeBytes(of: flight.mutation.uuid) { Self.put(.mutation, $0, &bytes) }
      if let destination = flight.destination {
        destination.withUnsafeBytes { Self.put(.destination, $0, &bytes) }
      }
      if let sent = flight.sent {
        if flight.isEdited { Self.put(.edited, Self.nothing, &bytes) }
        (sent ?? []).withUnsafeBytes { Self.put(.sent, $0, &bytes) }
      }
    }
    if attemptCount > 0 {
      withUnsafeBytes(of: attemptCount.bigEndian) { Self.put(.attempts, $0, &bytes) }
    }
    if let newer {
      newer.base.withUnsafeBytes { Self.put(.newerBase, $0, &bytes) }
      (newer.record ?? []).withUnsafeBytes { Self.put(.newerRecord, $0, &bytes) }
    }
    if let hold {
      (Array(hold.code.utf8) + [0] + Array(hold.reason.utf8)).withUnsafeBytes {
        Self.put(.hold, $0, &bytes)
      }
    }
    Self.seal(&bytes, key: key)
  }

  /// Writes what the first edit of a document leaves, from bytes that stand elsewhere.
  ///
  /// - Parameter shadow: Empty where no document stood here although there is a base.
  static func encodeFirst(
    _ sequence: UInt64, base: UnsafeRawBufferPointer?, isDeleted: Bool,
    shadow: UnsafeRawBufferPointer?, into bytes: inout OrderedBytes, key: UnsafeRawBufferPointer
  ) {
    begin(sequence, &bytes)
    if let base { put(.base, base, &bytes) }
    if isDeleted { put(.deleted, nothing, &bytes) }
    if let shadow { put(.shadow, shadow, &bytes) }
    seal(&bytes, key: key)
  }

  private static var nothing: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private static func begin(_ sequence: UInt64, _ bytes: inout OrderedBytes) {
    bytes.removeAll()
    bytes.append(version)
    withUnsafeBytes(of: sequence.bigEndian) { put(.sequence, $0, &bytes) }
  }

  private static func put(
    _ tag: Tag, _ part: UnsafeRawBufferPointer, _ bytes: inout OrderedBytes
  ) {
    bytes.append(tag.rawValue)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).bigEndian) { bytes.append($0) }
    bytes.append(part)
  }

  private static func seal(_ bytes: inout OrderedBytes, key: UnsafeRawBufferPointer) {
    let checksum = Checksum.hash(bytes.bytes, seed: Checksum.hash(key, seed: 0))
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append($0) }
  }

  /// The parts of what is stored, in place; nil for bytes that are no entry under this key.
  private static func body(
    _ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    let end = stored.count - 8
    guard end >= 1, stored[0] == version else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: stored[..<end])
    let checksum = UInt64(
      littleEndian: stored.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    guard Checksum.hash(body, seed: Checksum.hash(key, seed: 0)) == checksum else { return nil }
    return UnsafeRawBufferPointer(rebasing: body[1...])
  }

  /// Calls `body` with each part; false where they are none.
  private static func forEachPart(
    _ parts: UnsafeRawBufferPointer, _ body: (Tag, UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    var place = 0
    while place < parts.count {
      guard place + 5 <= parts.count, let tag = Tag(rawValue: parts[place]) else { return false }
      let count = Int(
        UInt32(bigEndian: parts.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
      guard count <= parts.count - place - 5 else { return false }
      body(tag, UnsafeRawBufferPointer(rebasing: parts[place + 5..<place + 5 + count]))
      place += 5 + count
    }
    return true
  }

  /// Whether another edit leaves what is stored as it is. It is looked at in place, as an edit of what waits
  /// already mostly changes nothing.
  static func isUntouched(
    _ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, isDeleted: Bool
  ) -> Bool {
    guard let parts = body(stored, key: key) else { return false }
    var (wasDeleted, isKnown, isSent, isEdited, isRejected) = (false, false, false, false, false)
    let isWhole = forEachPart(parts) { tag, part in
      switch tag {
      case .deleted: wasDeleted = true
      case .base, .newerBase: isKnown = true
      case .mutation: isSent = true
      case .edited: isEdited = true
      case .hold: isRejected = part.first != 0
      case .sequence, .shadow, .sent, .attempts, .newerRecord, .destination: break
      }
    }
    // As `edit(old:isDeleted:)` decides.
    return isWhole && wasDeleted == isDeleted && (isKnown || isSent || !isDeleted)
      && (isEdited || !isSent) && !isRejected
  }

  /// Nil for bytes that are no entry under this key.
  init?(_ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
    guard let body = Self.body(stored, key: key) else { return nil }
    var parts: [Tag: [UInt8]] = [:]
    guard Self.forEachPart(body, { parts[$0] = [UInt8]($1) }) else { return nil }
    self.init(parts)
  }

  private init?(_ parts: [Tag: [UInt8]]) {
    guard let number = parts[.sequence], number.count == 8 else { return nil }
    sequence = number.reduce(0) { $0 << 8 | UInt64($1) }
    base = parts[.base]
    isDeleted = parts[.deleted] != nil
    shadow = parts[.shadow]
    if shadow == [] { (shadow, isUnseen) = (nil, true) }
    if let id = parts[.mutation] {
      guard id.count == 16 else { return nil }
      let mutation = UUID(uuid: id.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
      flight = Flight(mutation: mutation, destination: parts[.destination])
      if let sent = parts[.sent] { flight?.sent = .some(sent.isEmpty ? nil : sent) }
      flight?.isEdited = parts[.edited] != nil
      if isEditedInFlight, flight?.sent == nil { return nil }
    }
    if let count = parts[.attempts] {
      guard count.count == 4 else { return nil }
      attemptCount = count.reduce(0) { $0 << 8 | UInt32($1) }
    }
    if let base = parts[.newerBase] {
      guard let record = parts[.newerRecord] else { return nil }
      newer = Version(base: base, record: record.isEmpty ? nil : record)
    }
    if let bytes = parts[.hold] {
      guard let split = bytes.firstIndex(of: 0) else { return nil }
      hold = Hold(
        code: String(decoding: bytes[..<split], as: UTF8.self),
        reason: String(decoding: bytes[(split + 1)...], as: UTF8.self))
    }
  }

  /// What becomes of the entry when the document is edited again.
  ///
  /// - Parameters:
  ///   - old: The record as it was before this edit; nil where there was none.
  ///   - isDeleted: Whether the edit is a deletion.
  /// - Returns: Whether the entry has changed; nil where nothing is left to send.
  mutating func edit(old: UnsafeRawBufferPointer?, isDeleted: Bool) -> Bool? {
    // Created and deleted again before anybody was told of it.
    if isDeleted, base == nil, flight == nil, newer == nil { return nil }
    var hasChanged = self.isDeleted != isDeleted
    self.isDeleted = isDeleted
    if flight != nil, !isEditedInFlight {
      if flight?.sent == nil { flight?.sent = .some(old.map { [UInt8]($0) }) }
      flight?.isEdited = true
      hasChanged = true
    }
    if let hold, !hold.code.isEmpty {
      // What was rejected is another edit now.
      self.hold = nil
      attemptCount = 0
      hasChanged = true
    }
    return hasChanged
  }

  /// Notes that the document was changed, but not by an edit: by a migration, for example. An edit that was sent
  /// keeps its record, so that it is sent again as it was.
  ///
  /// - Parameter old: The record as it was.
  /// - Returns: Whether the entry has changed.
  mutating func rewrite(old: UnsafeRawBufferPointer) -> Bool {
    guard flight != nil, flight?.sent == nil else { return false }
    flight?.sent = .some([UInt8](old))
    return true
  }

  /// Notes another edit, which is no deletion.
  ///
  /// - Parameter old: The record as it was before; nil where there was none.
  package mutating func edit(old: [UInt8]?) {
    if let old {
      _ = old.withUnsafeBytes { edit(old: $0, isDeleted: false) }
    } else {
      _ = edit(old: nil as UnsafeRawBufferPointer?, isDeleted: false)
    }
  }
}
