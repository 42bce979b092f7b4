internal import LarderLMDB

/// What edits of documents of a synced collection leave in the outbox, collected beside what they leave in
/// the indexes and in the log, and written with them: sorted, in one walk through entries and bases.
final class OutboxChanges {
  private let databases: OutboxDatabases
  /// What the names of the collection's bases begin with. Without the first byte, those of its entries do.
  private let basePrefix: [UInt8]
  private let sequence: UInt64
  private let areEdits: Bool
  private let meetsEntries: Bool
  /// Whether documents with an entry are to be left as they are.
  let keepsEdits: Bool
  /// For each edit the name of its base, and the record as it was.
  @exclusivity(unchecked) private var bytes = OrderedBytes(capacity: 512)
  @exclusivity(unchecked) private var edits: [Edit] = []
  /// The entry that is being written.
  @exclusivity(unchecked) private var entry = OrderedBytes(capacity: 512)
  @exclusivity(unchecked) private var isErased = false

  private struct Edit {
    var start: Int
    /// Of the base's name.
    var nameCount: Int32
    /// Bytes of the record as it was; below zero where there was none.
    var oldCount: Int32
    var isDeleted: Bool
    var isSparing: Bool
  }

  /// What is written later than the first time may go between what is there, and leave pages half full.
  private static let maximumByteCount = 16 << 20

  /// - Parameters:
  ///   - sequence: Of the last change before these.
  ///   - areEdits: False for changes that come from the remote, or that it is not told of.
  ///   - meetsEntries: False where nothing waits in the outbox that such a change could concern.
  ///   - keepsEdits: Whether documents with an entry are to be left as they are.
  init(
    _ collection: String, _ databases: OutboxDatabases, after sequence: UInt64, areEdits: Bool,
    meetsEntries: Bool = true, keepsEdits: Bool = false
  ) {
    self.databases = databases
    self.sequence = sequence
    self.areEdits = areEdits
    self.meetsEntries = meetsEntries
    self.keepsEdits = keepsEdits
    basePrefix = OutboxKey.baseKey(collection, [])
  }

  /// A document was changed.
  ///
  /// - Parameters:
  ///   - old: The record as it was; nil where there was none.
  ///   - isSparing: Whether there is no room to keep it, but where it was sent and is not answered.
  func edited(
    _ key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?, isDeleted: Bool = false,
    isSparing: Bool = false
  ) {
    // A migration, for example: only edits that were sent keep the record as it was.
    guard areEdits || meetsEntries && old != nil else { return }
    let start = bytes.count
    basePrefix.withUnsafeBytes { bytes.append($0) }
    bytes.append(key)
    if let old { bytes.append(old) }
    edits.append(
      Edit(
        start: start, nameCount: Int32(truncatingIfNeeded: basePrefix.count + key.count),
        oldCount: old.map { Int32(truncatingIfNeeded: $0.count) } ?? -1, isDeleted: isDeleted,
        isSparing: isSparing))
  }

  /// Whether a document has an edit that was not sent, or not answered.
  func hasEdit(
    _ key: UnsafeRawBufferPointer, _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    try transaction.hasKey(Array(basePrefix[1...]) + key, in: databases.outbox)
  }

  /// All documents of the collection are forgotten here, and stay on the remote.
  func erased() {
    edits.removeAll()
    bytes.removeAll()
    isErased = true
  }

  var isFull: Bool { bytes.count > Self.maximumByteCount }

  /// Writes what was collected.
  func write(to transaction: inout WriteTransaction) throws {
    if isErased {
      try erase(&transaction)
      isErased = false
    }
    guard !edits.isEmpty else { return }
    let sorted = KeySort.sorted(count: edits.count) { key(edits[$0]) }
    var walk = Walk(
      outbox: try transaction.cursor(in: databases.outbox),
      bases: try transaction.cursor(in: databases.sync))
    walk.hasBases =
      try basePrefix.withUnsafeBytes { try walk.bases.seek(atOrAfter: $0) }
      && walk.bases.key.starts(with: basePrefix)
    // No document stands in them twice: batches drop all but the last of those with one key.
    for item in sorted { try write(edits[Int(item.place)], &walk) }
    edits.removeAll(keepingCapacity: true)
    bytes.removeAll()
  }

  /// Where the next edit is written.
  private struct Walk: ~Copyable {
    var outbox: Cursor
    var bases: Cursor
    /// Whether the remote is known to have documents of the collection.
    var hasBases = false
    /// Whether all entries come before the next one, so that it is appended, which packs the pages full.
    var isAtEnd = false
    var entryNeighbours = Neighbours()
    var baseNeighbours = Neighbours()
  }

  private func baseName(_ edit: Edit) -> UnsafeRawBufferPointer {
    bytes[edit.start..<edit.start + Int(edit.nameCount)]
  }

  private func key(_ edit: Edit) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: baseName(edit)[basePrefix.count...])
  }

  private func old(_ edit: Edit) -> UnsafeRawBufferPointer? {
    guard edit.oldCount >= 0 else { return nil }
    let start = edit.start + Int(edit.nameCount)
    return bytes[start..<start + Int(edit.oldCount)]
  }

  private func write(_ edit: Edit, _ walk: inout Walk) throws {
    let baseName = baseName(edit)
    let name = UnsafeRawBufferPointer(rebasing: baseName[1...])
    var isThere = false
    if !walk.isAtEnd {
      if let found = try walk.entryNeighbours.seek(atOrAfter: name, &walk.outbox) {
        isThere = found
      } else {
        walk.isAtEnd = true
      }
    }
    if isThere {
      if areEdits,
        OutboxEntry.isUntouched(walk.outbox.value, key: name, isDeleted: edit.isDeleted)
      {
        return
      }
      if var waiting = OutboxEntry(walk.outbox.value, key: name) {
        guard areEdits else {
          if let old = old(edit), waiting.rewrite(old: old) {
            waiting.encode(into: &entry, key: name)
            try walk.outbox.put(entry.bytes, for: name, .replaceCurrent)
          }
          return
        }
        switch waiting.edit(old: old(edit), isDeleted: edit.isDeleted) {
        case nil: try walk.outbox.delete()
        case false?: break
        case true?:
          waiting.encode(into: &entry, key: name)
          try walk.outbox.put(entry.bytes, for: name, .replaceCurrent)
        }
        return
      }
    }
    guard areEdits else { return }
    // What cannot be read is as good as none: the edit must not be lost with it.
    var base: UnsafeRawBufferPointer?
    if walk.hasBases || isThere, try walk.baseNeighbours.seek(baseName, &walk.bases) {
      base = SyncRecord.body(walk.bases.value, key: baseName)
    }
    if base == nil, edit.isDeleted, !isThere { return }
    var shadow = base == nil || edit.isSparing ? nil : old(edit)
    if base != nil, edit.oldCount < 0, !isThere {
      shadow = UnsafeRawBufferPointer(start: nil, count: 0)
    }
    OutboxEntry.encodeFirst(
      sequence, base: base, isDeleted: edit.isDeleted, shadow: shadow, into: &entry, key: name)
    try put(name, &walk)
  }

  private func put(_ name: UnsafeRawBufferPointer, _ walk: inout Walk) throws {
    if walk.isAtEnd {
      do {
        return try walk.outbox.put(entry.bytes, for: name, .append)
      } catch  where error.code == .keyExists {
        // Behind a damaged key, which must not keep everybody from saving.
        walk.isAtEnd = false
        _ = try walk.outbox.seek(atOrAfter: name)
      }
    }
    try walk.outbox.put(entry.bytes, for: name)
  }

  private func erase(_ transaction: inout WriteTransaction) throws {
    let prefix = Array(basePrefix.dropFirst())
    try transaction.deleteAll(withPrefix: prefix, in: databases.outbox)
    try transaction.deleteAll(withPrefix: basePrefix, in: databases.sync)
    for tag in [OutboxKey.markTag, OutboxKey.keptTag] {
      try transaction.deleteAll(withPrefix: [tag] + prefix, in: databases.sync)
    }
    // Cursors are of another life of the collection now.
    let key = OutboxKey.recordKey(OutboxKey.eraseName(of: prefix))
    try key.withUnsafeBytes { key in
      let count =
        try transaction.withValue(for: key, in: databases.sync) { SyncRecord.bytes($0, key: key) }
        ?? nil
      let next = (count ?? []).reduce(0 as UInt64) { $0 << 8 | UInt64($1) } &+ 1
      let record = withUnsafeBytes(of: next.bigEndian) { SyncRecord.encoded($0, key: key) }
      try record.withUnsafeBytes { try transaction.put($0, for: key, in: databases.sync) }
    }
  }
}

/// The two databases of what is synced.
struct OutboxDatabases {
  /// `<collection> 00 <key>` -> `OutboxEntry`.
  let outbox: Database
  /// Bases and what engines note; drawn in `OutboxKey`.
  let sync: Database
}

/// The keys of the databases of what is synced.
///
/// ```
/// larder.outbox   <collection, UTF-8> 00 <key>       -> entry, drawn in `OutboxEntry`
/// larder.sync     62 <collection, UTF-8> 00 <key>    -> bytes checksum    the remote's version of a document
///                 6D <collection, UTF-8> 00 <key>    -> byte checksum     a document that an engine has to look at again
///                 6B <collection, UTF-8> 00 <key>    -> 01 checksum       a document that another account has left here
///                 73 <name, UTF-8>                   -> bytes checksum    what an engine notes
///                 73 "erased/" <collection> 00       -> number checksum   how often it was erased
/// ```
enum OutboxKey {
  static let baseTag = UInt8(ascii: "b")
  static let markTag = UInt8(ascii: "m")
  static let keptTag = UInt8(ascii: "k")
  static let recordTag = UInt8(ascii: "s")
  /// Under which an engine notes whose documents the store has.
  static let accountName = "account"
  /// Under which it stands that the store was saved from a damaged file: some documents may be missing.
  static let salvagedName = "salvaged"

  static func prefix(of collection: String) -> [UInt8] { [UInt8](collection.utf8) + [0] }

  static func eraseName(of prefix: [UInt8]) -> [UInt8] { Array("erased/".utf8) + prefix }

  static func baseKey(_ collection: String, _ key: [UInt8]) -> [UInt8] {
    [baseTag] + prefix(of: collection) + key
  }

  static func keptKey(_ collection: String, _ key: [UInt8]) -> [UInt8] {
    [keptTag] + prefix(of: collection) + key
  }

  static func markKey(_ collection: String, _ key: [UInt8]) -> [UInt8] {
    [markTag] + prefix(of: collection) + key
  }

  static func recordKey(_ name: [UInt8]) -> [UInt8] { [recordTag] + name }
}

/// Bytes with a checksum of 8 behind them, which is seeded with the hash of the key.
enum SyncRecord {
  static func encoded(
    _ bytes: some Swift.Collection<UInt8>, key: UnsafeRawBufferPointer
  ) -> [UInt8] {
    var bytes = [UInt8](bytes)
    let checksum = bytes.withUnsafeBytes { Checksum.hash($0, seed: Checksum.hash(key, seed: 0)) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Nil for what is damaged.
  static func bytes(
    _ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> [UInt8]? {
    body(stored, key: key).map { [UInt8]($0) }
  }

  /// The bytes where they stand; nil for what is damaged.
  static func body(
    _ stored: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    let end = stored.count - 8
    guard end >= 0 else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: stored[..<end])
    let checksum = UInt64(
      littleEndian: stored.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    guard Checksum.hash(body, seed: Checksum.hash(key, seed: 0)) == checksum else { return nil }
    return body
  }
}

extension Transaction where Self: ~Copyable {
  borrowing func hasKey(_ key: [UInt8], in database: Database) throws -> Bool {
    try key.withUnsafeBytes { try withValue(for: $0, in: database) { _ in true } } ?? false
  }

  borrowing func hasKey(withPrefix prefix: [UInt8], in database: Database) throws -> Bool {
    var cursor = try cursor(in: database)
    return try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
      && cursor.key.starts(with: prefix)
  }
}

extension WriteTransaction {
  mutating func deleteAll(withPrefix prefix: [UInt8], in database: Database) throws {
    var cursor = try cursor(in: database)
    while try prefix.withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }),
      cursor.key.starts(with: prefix)
    {
      try cursor.delete()
    }
  }
}
