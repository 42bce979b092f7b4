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
/// ```
/// Numbers are big-endian. An empty record stands for a document that is deleted.
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
    /// What was sent, where the document was edited since; the outer nil where it was not.
    package var sent: [UInt8]??

    package init(mutation: UUID, sent: [UInt8]?? = nil) {
      self.mutation = mutation
      self.sent = sent
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
  package var base: [UInt8]?
  /// The record of that version; nil where there was none, or where it is not known.
  package var shadow: [UInt8]?
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
  package var isEditedInFlight: Bool { flight?.sent != nil }
}

extension OutboxEntry {
  private static let version: UInt8 = 1

  private enum Tag: UInt8 {
    case sequence = 1
    case base, shadow, mutation, sent, attempts, newerBase, newerRecord, hold, edited, deleted
  }

  func encoded(key: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes: [UInt8] = [Self.version]
    func put(_ tag: Tag, _ part: some Swift.Collection<UInt8>) {
      bytes.append(tag.rawValue)
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).bigEndian) {
        bytes.append(contentsOf: $0)
      }
      bytes.append(contentsOf: part)
    }
    withUnsafeBytes(of: sequence.bigEndian) { put(.sequence, $0) }
    if let base { put(.base, base) }
    if isDeleted { put(.deleted, []) }
    if let shadow { put(.shadow, shadow) }
    if let flight {
      withUnsafeBytes(of: flight.mutation.uuid) { put(.mutation, $0) }
      if let sent = flight.sent {
        put(.edited, [])
        put(.sent, sent ?? [])
      }
    }
    if attemptCount > 0 { withUnsafeBytes(of: attemptCount.bigEndian) { put(.attempts, $0) } }
    if let newer {
      put(.newerBase, newer.base)
      put(.newerRecord, newer.record ?? [])
    }
    if let hold { put(.hold, Array(hold.code.utf8) + [0] + Array(hold.reason.utf8)) }
    let checksum = bytes.withUnsafeBytes { Checksum.hash($0, seed: Checksum.hash(key, seed: 0)) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Nil for bytes that are no entry under this key.
  init?(_ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) {
    let end = stored.count - 8
    guard end >= 1, stored[0] == Self.version else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: stored[..<end])
    let checksum = UInt64(
      littleEndian: stored.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    guard Checksum.hash(body, seed: Checksum.hash(key, seed: 0)) == checksum else { return nil }
    var parts: [Tag: [UInt8]] = [:]
    var place = 1
    while place < end {
      guard place + 5 <= end, let tag = Tag(rawValue: stored[place]) else { return nil }
      let count = Int(
        UInt32(bigEndian: stored.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
      guard count <= end - place - 5 else { return nil }
      parts[tag] = [UInt8](stored[place + 5..<place + 5 + count])
      place += 5 + count
    }
    self.init(parts)
  }

  private init?(_ parts: [Tag: [UInt8]]) {
    guard let number = parts[.sequence], number.count == 8 else { return nil }
    sequence = number.reduce(0) { $0 << 8 | UInt64($1) }
    base = parts[.base]
    isDeleted = parts[.deleted] != nil
    shadow = parts[.shadow]
    if let id = parts[.mutation] {
      guard id.count == 16 else { return nil }
      let mutation = UUID(uuid: id.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
      flight = Flight(mutation: mutation)
      if parts[.edited] != nil {
        guard let sent = parts[.sent] else { return nil }
        flight?.sent = .some(sent.isEmpty ? nil : sent)
      }
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
    if flight != nil, flight?.sent == nil {
      flight?.sent = .some(old.map { [UInt8]($0) })
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
}
