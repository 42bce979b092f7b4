internal import LarderLMDB

/// What the layers above keep in a store beside its documents: a few bytes under a name, such as
/// when something was last fetched. A note is no document: writing one takes no sequence number,
/// is in no change log, and wakes nobody.
///
/// ```
/// note = bytes  checksum                                            0 to 256, 8, little-endian
/// ```
struct StoreNote {
  static let maximumNameByteCount = 200
  static let maximumByteCount = 256
  private static let checksumByteCount = 8

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Nil for bytes that are no note of this name.
  init?(_ stored: UnsafeRawBufferPointer, name: String) {
    guard stored.count >= Self.checksumByteCount else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: stored.dropLast(Self.checksumByteCount))
    let checksum = stored.loadUnaligned(fromByteOffset: body.count, as: UInt64.self)
    guard UInt64(littleEndian: checksum) == Self.checksum(body, name) else { return nil }
    bytes = [UInt8](body)
  }

  func encoded(name: String) -> [UInt8] {
    let checksum = bytes.withUnsafeBytes { Self.checksum($0, name) }
    return bytes + withUnsafeBytes(of: checksum.littleEndian) { [UInt8]($0) }
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, _ name: String) -> UInt64 {
    Checksum.hash(bytes, seed: [UInt8](name.utf8).withUnsafeBytes { Checksum.hash($0, seed: 0) })
  }

  static func withKey<Result>(
    _ name: String, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let count = name.utf8.count
    precondition((1...maximumNameByteCount).contains(count), "a note's name has \(count) bytes")
    return try [UInt8]((Layout.notesPrefix + name).utf8).withUnsafeBytes(body)
  }
}

extension Snapshot {
  /// The note of this name; nil where there is none, or where its bytes are damaged, which
  /// ``Store/check(progress:)`` tells of. So a note should be something that can be lost.
  ///
  /// - Throws: ``StoreError``.
  package borrowing func note(_ name: String) throws -> [UInt8]? {
    try StoreNote.withKey(name) { key in
      try transaction.withValue(for: key, in: .main) { StoreNote($0, name: name) }??.bytes
    }
  }
}

extension WriteScope {
  /// The note of this name, as this transaction has it; nil where there is none, or where its bytes are
  /// damaged.
  ///
  /// - Throws: ``StoreError``.
  package borrowing func note(_ name: String) throws -> [UInt8]? {
    try StoreNote.withKey(name) { key in
      try transaction.withValue(for: key, in: .main) { StoreNote($0, name: name) }??.bytes
    }
  }

  /// Keeps a note; nil takes it away. At most 256 bytes, under a name of 1 to 200.
  ///
  /// - Throws: ``StoreError``.
  package mutating func setNote(_ name: String, to bytes: [UInt8]?) throws {
    precondition(
      (bytes?.count ?? 0) <= StoreNote.maximumByteCount, "the note \(name) is too long")
    try wholly { scope in
      try StoreNote.withKey(name) { key in
        if let bytes {
          try StoreNote(bytes).encoded(name: name).withUnsafeBytes {
            try scope.transaction.put($0, for: key, in: .main)
          }
        } else {
          _ = try scope.transaction.delete(key, in: .main)
        }
      }
      scope.hasWrittenMore = true
    }
  }
}
