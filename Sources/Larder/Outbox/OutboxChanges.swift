internal import LarderLMDB

/// What edits of documents of a synced collection leave in the outbox, collected beside what they leave in
/// the indexes and in the log, and written with them.
final class OutboxChanges {
  private let databases: OutboxDatabases
  private let prefix: [UInt8]
  private let sequence: UInt64
  @exclusivity(unchecked) private var bytes = OrderedBytes(capacity: 512)
  @exclusivity(unchecked) private var edits: [Edit] = []
  @exclusivity(unchecked) private var isErased = false

  private struct Edit {
    var start: Int
    var keyCount: UInt16
    /// Bytes of the record as it was; nil where there was none, or where it is not kept.
    var oldCount: Int?
    var isDeleted: Bool
    var isSparing: Bool
  }

  private static let maximumByteCount = 4 << 20

  private let takesEdits: Bool

  /// - Parameters:
  ///   - sequence: Of the last change before these.
  ///   - takesEdits: False for changes that come from the remote, or that it is not told of.
  init(
    _ collection: String, _ databases: OutboxDatabases, after sequence: UInt64, takesEdits: Bool
  ) {
    self.databases = databases
    self.sequence = sequence
    self.takesEdits = takesEdits
    prefix = OutboxKey.prefix(of: collection)
  }

  /// A document was edited.
  ///
  /// - Parameters:
  ///   - old: The record as it was; nil where there was none.
  ///   - isSparing: Whether there is no room to keep it, but where it was sent and is not answered.
  func edited(
    _ key: UnsafeRawBufferPointer, old: UnsafeRawBufferPointer?, isDeleted: Bool = false,
    isSparing: Bool = false
  ) {
    guard takesEdits else { return }
    let start = bytes.count
    bytes.append(key)
    if let old { bytes.append(old) }
    edits.append(
      Edit(
        start: start, keyCount: UInt16(truncatingIfNeeded: key.count), oldCount: old?.count,
        isDeleted: isDeleted, isSparing: isSparing))
  }

  /// All documents of the collection are forgotten here, and stay on the remote.
  func erased() {
    edits = []
    bytes.truncate(to: 0)
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
    var outbox = try transaction.cursor(in: databases.outbox)
    let hasBases = try transaction.hasKey(withPrefix: basePrefix, in: databases.sync)
    for edit in edits { try write(edit, &outbox, hasBases: hasBases, transaction) }
    edits = []
    bytes.truncate(to: 0)
  }

  private var basePrefix: [UInt8] { [OutboxKey.baseTag] + prefix }

  private func write(
    _ edit: Edit, _ outbox: inout Cursor, hasBases: Bool,
    _ transaction: borrowing WriteTransaction
  ) throws {
    let key = bytes[edit.start..<edit.start + Int(edit.keyCount)]
    let old = edit.oldCount.map { count in
      bytes[edit.start + Int(edit.keyCount)..<edit.start + Int(edit.keyCount) + count]
    }
    let name = prefix + key
    try name.withUnsafeBytes { name in
      let isThere = try outbox.seek(name)
      if isThere, var entry = OutboxEntry(outbox.value, key: name) {
        switch entry.edit(old: old, isDeleted: edit.isDeleted) {
        case nil: try outbox.delete()
        case false?: break
        case true?: try put(entry, name, &outbox)
        }
        return
      }
      // What cannot be read is as good as none: the edit must not be lost with it.
      var entry = OutboxEntry()
      entry.sequence = sequence
      entry.isDeleted = edit.isDeleted
      if hasBases || isThere { entry.base = try base(key, transaction) }
      if entry.base == nil, edit.isDeleted, !isThere { return }
      if entry.base != nil, !edit.isSparing { entry.shadow = old.map { [UInt8]($0) } }
      try put(entry, name, &outbox)
    }
  }

  private func put(
    _ entry: OutboxEntry, _ name: UnsafeRawBufferPointer, _ outbox: inout Cursor
  ) throws {
    try entry.encoded(key: name).withUnsafeBytes { try outbox.put($0, for: name, .upsert) }
  }

  private func base(
    _ key: UnsafeRawBufferPointer, _ transaction: borrowing WriteTransaction
  ) throws -> [UInt8]? {
    try (basePrefix + key).withUnsafeBytes { key in
      try transaction.withValue(for: key, in: databases.sync) { SyncRecord.bytes($0, key: key) }
    } ?? nil
  }

  private func erase(_ transaction: inout WriteTransaction) throws {
    try transaction.deleteAll(withPrefix: prefix, in: databases.outbox)
    try transaction.deleteAll(withPrefix: basePrefix, in: databases.sync)
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
///                 73 <name, UTF-8>                   -> bytes checksum    what an engine notes
///                 73 "erased/" <collection> 00       -> number checksum   how often it was erased
/// ```
enum OutboxKey {
  static let baseTag = UInt8(ascii: "b")
  static let recordTag = UInt8(ascii: "s")
  /// Under which an engine notes whose documents the store has.
  static let accountName = "account"

  static func prefix(of collection: String) -> [UInt8] { [UInt8](collection.utf8) + [0] }

  static func eraseName(of prefix: [UInt8]) -> [UInt8] { Array("erased/".utf8) + prefix }

  static func baseKey(_ collection: String, _ key: [UInt8]) -> [UInt8] {
    [baseTag] + prefix(of: collection) + key
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
    let end = stored.count - 8
    guard end >= 0 else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: stored[..<end])
    let checksum = UInt64(
      littleEndian: stored.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    guard Checksum.hash(body, seed: Checksum.hash(key, seed: 0)) == checksum else { return nil }
    return [UInt8](body)
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
